import { WordFinder } from '../word-finder.ts'
import type { Form } from './form.ts'
import { FORMS, SELF_EVIDENT } from './forms.ts'
import { KEY_ANCHOR, type KeyState, readKeyLine } from './private-key.ts'

const LINE_END = 0x0a
const STAR = 0x2a
/** Packed code has longer lines; a token that somebody wrote down does not stand behind that much. */
const LONGEST_LINE = 16_384

const ANCHORS = [...new Set([KEY_ANCHOR, ...FORMS.flatMap(form => form.anchors)])]
/** By the number of the word that was found, what it may be a part of. */
const SUSPECTS = ANCHORS.map(anchor => FORMS.filter(form => form.anchors.includes(anchor)))
let finder: WordFinder | undefined

/** Built at the first use: it takes longer than most commands that could need it. */
function anchorFinder(): WordFinder {
  finder ??= new WordFinder(ANCHORS.map(anchor => Buffer.from(anchor)))
  return finder
}

/**
 * Hides secrets in text: those of a known form, and these. Each byte of one becomes a star, so that nothing else moves. Most
 * text has nothing in it that a secret could begin with, and is only looked through once.
 */
export class Mask {
  readonly #secrets: readonly Buffer[]

  constructor(secrets: readonly string[] = []) {
    this.#secrets = secrets.map(secret => Buffer.from(secret))
  }

  /** Hides them in these very bytes, which are whole lines. Answers whether the next ones begin within a private key. */
  hideIn(bytes: Buffer, state: KeyState = 'outside'): KeyState {
    for (const secret of this.#secrets) hideAll(secret, bytes)
    let within = state
    for (let at = 0; at < bytes.length; ) {
      const found = within === 'outside' ? anchorFinder().firstEnd(bytes, at) : at
      if (found < 0) break
      const from = within === 'outside' ? startOfLine(bytes, at, found) : at
      const end = bytes.indexOf(LINE_END, from)
      const to = end < 0 ? bytes.length : end
      within = hideInLine(bytes.subarray(from, to), within)
      at = to + 1
    }
    return within
  }

  hide(text: string): string {
    const bytes = Buffer.from(text)
    this.hideIn(bytes)
    return bytes.toString()
  }
}

/** Whether bytes hold a private key, or a token whose form alone says what it is. */
export function holdsToken(bytes: Buffer): boolean {
  if (anchorFinder().firstEnd(bytes, 0) < 0) return false
  const text = bytes.toString('latin1')
  return text.split('\n').some(line => {
    const cut = line.slice(0, LONGEST_LINE)
    if (cut.includes(KEY_ANCHOR) && readKeyLine(cut, 'outside').state !== 'outside') return true
    return SELF_EVIDENT.some(({ anchors, find }) => anchors.some(word => cut.includes(word)) && find(cut).length > 0)
  })
}

function hideAll(secret: Buffer, bytes: Buffer): void {
  for (let at = bytes.indexOf(secret); at >= 0; at = bytes.indexOf(secret, at + secret.length)) {
    bytes.fill(STAR, at, at + secret.length)
  }
}

function startOfLine(bytes: Buffer, from: number, found: number): number {
  return Math.max(from, bytes.lastIndexOf(LINE_END, found - 1) + 1)
}

function hideInLine(bytes: Buffer, state: KeyState): KeyState {
  const line = bytes.toString('latin1')
  const tried = new Set<Form>()
  for (const word of anchorFinder().wordsIn(bytes, 0, bytes.length)) {
    for (const form of SUSPECTS[word] ?? []) {
      if (tried.has(form)) continue
      tried.add(form)
      for (const [from, to] of form.find(line)) bytes.fill(STAR, from, to)
    }
  }
  if (state === 'outside' && !line.includes(KEY_ANCHOR)) return state
  const key = readKeyLine(line, state)
  for (const [from, to] of key.hidden) bytes.fill(STAR, from, to)
  return key.state
}
