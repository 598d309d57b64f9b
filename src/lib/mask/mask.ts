import { MultiStringSearch } from './multi-string-search.ts'
import type { SecretPattern } from './secret-pattern.ts'
import { SECRET_PATTERNS, TOKEN_PATTERNS } from './pattern-catalogue.ts'
import { KEY_ANCHOR, type KeyState, readKeyLine } from './private-key.ts'

const LINE_END = 0x0a
const STAR = 0x2a
/** Packed code has longer lines; a token that somebody wrote down does not stand behind that many characters. */
export const MAX_LINE_LENGTH = 16_384

interface AnchorIndex {
  readonly search: MultiStringSearch
  /** The patterns of each anchor, by the anchor's index. */
  readonly patterns: readonly (readonly SecretPattern[])[]
}
let anchorIndex: AnchorIndex | undefined

/** The first use builds the index, because that takes longer than most commands that could need it. */
function getAnchorIndex(): AnchorIndex {
  anchorIndex ??= createAnchorIndex()
  return anchorIndex
}

function createAnchorIndex(): AnchorIndex {
  const anchors = [...new Set([KEY_ANCHOR, ...SECRET_PATTERNS.flatMap(pattern => pattern.anchors)])]
  return {
    search: new MultiStringSearch(anchors.map(anchor => Buffer.from(anchor))),
    patterns: anchors.map(anchor => SECRET_PATTERNS.filter(pattern => pattern.anchors.includes(anchor))),
  }
}

/**
 * Hides secrets in text: those of a known form, and the given ones. A star replaces each byte of a secret, so that
 * nothing else moves. Most text contains no anchor of a secret, and needs only one pass.
 */
export class Mask {
  readonly #secrets: readonly Buffer[]

  constructor(secrets: readonly string[] = []) {
    this.#secrets = secrets.map(secret => Buffer.from(secret))
  }

  /** Hides secrets in place, in bytes that are whole lines. Returns the key state at the start of the next bytes. */
  maskBytes(bytes: Buffer, state: KeyState = 'outside'): KeyState {
    for (const secret of this.#secrets) maskAll(secret, bytes)
    let within = state
    for (let at = 0; at < bytes.length; ) {
      const found = within === 'outside' ? getAnchorIndex().search.firstEnd(bytes, at) : at
      if (found < 0) break
      const from = within === 'outside' ? startOfLine(bytes, at, found) : at
      const end = bytes.indexOf(LINE_END, from)
      const to = end < 0 ? bytes.length : end
      within = maskLine(bytes.subarray(from, to), within)
      at = to + 1
    }
    return within
  }

  maskText(text: string): string {
    const bytes = Buffer.from(text)
    this.maskBytes(bytes)
    return bytes.toString()
  }
}

/** Returns true if the bytes hold a private key, or a token that its form alone identifies. */
export function containsToken(bytes: Buffer): boolean {
  if (getAnchorIndex().search.firstEnd(bytes, 0) < 0) return false
  const text = bytes.toString('latin1')
  return text.split('\n').some(line => {
    const cut = line.slice(0, MAX_LINE_LENGTH)
    if (cut.includes(KEY_ANCHOR) && containsKey(cut)) return true
    return TOKEN_PATTERNS.some(({ anchors, find }) => anchors.some(word => cut.includes(word)) && find(cut).length > 0)
  })
}

/** A key begins on this line, or a string on this line holds a whole one. */
function containsKey(line: string): boolean {
  const { state, hidden } = readKeyLine(line, 'outside')
  return state !== 'outside' || hidden.length > 0
}

/** Returns true if the mask would hide a part of the bytes. */
export function containsSecret(bytes: Buffer): boolean {
  const text = bytes.toString('latin1')
  return containsToken(bytes) || new Mask().maskText(text) !== text
}

function maskAll(secret: Buffer, bytes: Buffer): void {
  for (let at = bytes.indexOf(secret); at >= 0; at = bytes.indexOf(secret, at + secret.length)) {
    bytes.fill(STAR, at, at + secret.length)
  }
}

function startOfLine(bytes: Buffer, from: number, found: number): number {
  return Math.max(from, bytes.lastIndexOf(LINE_END, found - 1) + 1)
}

function maskLine(bytes: Buffer, state: KeyState): KeyState {
  const line = bytes.toString('latin1')
  const tried = new Set<SecretPattern>()
  for (const word of getAnchorIndex().search.wordsIn(bytes, 0, bytes.length)) {
    for (const pattern of getAnchorIndex().patterns[word] ?? []) {
      if (tried.has(pattern)) continue
      tried.add(pattern)
      for (const [from, to] of pattern.find(line)) bytes.fill(STAR, from, to)
    }
  }
  if (state === 'outside' && !line.includes(KEY_ANCHOR)) return state
  const key = readKeyLine(line, state)
  for (const [from, to] of key.hidden) bytes.fill(STAR, from, to)
  return key.state
}

/**
 * Masks a text and then truncates it. Masking comes first: a truncated secret is no longer recognisable, and may still
 * be nearly whole.
 */
export function maskAndTruncate(text: string, length: number, mask = new Mask()): string {
  const hidden = mask.maskText(text)
  return hidden.length <= length ? hidden : `${hidden.slice(0, length - 1)}…`
}

/** Masks the secrets in every text of plain objects and arrays. */
export function maskObject<T>(value: T, mask: Mask): T {
  return maskValue(value, mask) as T
}

function maskValue(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') return mask.maskText(value)
  if (Array.isArray(value)) return value.map(item => maskValue(item, mask))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskValue(item, mask)]))
}
