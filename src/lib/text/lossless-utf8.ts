/** Bytes that are no UTF-8 stand in a text as these: half a character each, which nothing else is decoded to. */
const FIRST_SURROGATE = 0xdc00
const INVALID_BYTE = /[\udc80-\udcff]/u
const INVALID_BYTES = /([\udc80-\udcff]+)/u

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Bytes as text, every one of them: `encodeLossless` brings the same bytes back, whatever they are. */
export function decodeLossless(bytes: Uint8Array): string {
  return tryDecode(bytes) ?? decodeInvalid(bytes)
}

export function encodeLossless(text: string): Uint8Array {
  const encoder = new TextEncoder()
  if (!INVALID_BYTE.test(text)) return encoder.encode(text)
  const parts = text
    .split(INVALID_BYTES)
    .map(part => (INVALID_BYTE.test(part) ? encodeInvalid(part) : encoder.encode(part)))
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let end = 0
  for (const part of parts) {
    bytes.set(part, end)
    end += part.length
  }
  return bytes
}

/** For people and programs: what was no UTF-8 becomes the sign for that. */
export function toWellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd')
}

/** Undefined for what is no UTF-8. */
function tryDecode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** Character by character: where none begins, a byte stands for itself. */
function decodeInvalid(bytes: Uint8Array): string {
  const parts: string[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = lengthAt(bytes[at] as number)
    const character = tryDecode(bytes.subarray(at, at + length))
    parts.push(character ?? String.fromCharCode(FIRST_SURROGATE + (bytes[at] as number)))
    at += character === undefined ? 1 : length
  }
  return parts.join('')
}

function lengthAt(first: number): number {
  if (first >= 0xf0) return 4
  if (first >= 0xe0) return 3
  return first >= 0xc0 ? 2 : 1
}

function encodeInvalid(text: string): Uint8Array {
  return Uint8Array.from(text, character => character.charCodeAt(0) - FIRST_SURROGATE)
}
