/** Invalid bytes become lone surrogates from here on. The decoder produces these for nothing else. */
const FIRST_SURROGATE = 0xdc00
const INVALID_BYTE = /[\udc80-\udcff]/u
const INVALID_BYTES = /([\udc80-\udcff]+)/u

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes any bytes to text; `encodeLossless` returns the same bytes. */
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

/** Replaces invalid bytes by the replacement character, for people and programs. */
export function toWellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd')
}

/** Returns undefined for invalid UTF-8. */
function tryDecode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** Decodes character by character; a byte that starts no character stands for itself. */
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
