import { findMatches, type Range } from './secret-pattern.ts'

/** The position of a reader: outside of any private key, after the first line of one, or among its lines. */
export type KeyState = 'outside' | 'begun' | 'inside'

/** The start of every key. */
export const KEY_ANCHOR = '-----BEGIN '

const BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
const END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
/** Matches a line of a key, after a prefix that a program may write: spaces, a bar, the line's number. */
const LINE = /^([^A-Za-z0-9+/=]{0,12}(?:\d{1,6}[^A-Za-z0-9+/=]{1,4})?)([A-Za-z0-9+/=]+)[^A-Za-z0-9+/=]{0,12}$/
/** Matches the text between escaped line ends (\\n) of a string. */
const RUN = /\\[nrt]|([A-Za-z0-9+/=]+)/g
/** A shorter line can only be the last one of a key. */
const MIN_FULL_LINE = 32
const HEADER =
  /^[^A-Za-z0-9]{0,12}(?:\d{1,6}[^A-Za-z0-9]{1,4})?(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): .{0,200})?$/

/** Returns the parts of a line that belong to a private key, and the state after it. */
export function readKeyLine(line: string, state: KeyState): { readonly state: KeyState; readonly hidden: Range[] } {
  if (state === 'outside') return readOutsideKey(line, 0, [])
  END.lastIndex = 0
  const end = END.exec(line)
  if (end !== null) return readOutsideKey(line, END.lastIndex, findKeyText(line, [0, end.index], 1))
  const [, before = '', body = ''] = LINE.exec(line) ?? []
  const isBody = body.length >= MIN_FULL_LINE || (body !== '' && state === 'inside')
  if (isBody) {
    return {
      state: body.length >= MIN_FULL_LINE ? 'inside' : 'outside',
      hidden: [[before.length, before.length + body.length]],
    }
  }
  return HEADER.test(line) ? { state, hidden: [] } : readOutsideKey(line, 0, [])
}

/** Finds keys within one line, as in a string with escaped line ends. */
function readOutsideKey(line: string, from: number, hidden: Range[]): { state: KeyState; hidden: Range[] } {
  for (BEGIN.lastIndex = from; BEGIN.exec(line) !== null; BEGIN.lastIndex = END.lastIndex) {
    const begun = BEGIN.lastIndex
    END.lastIndex = begun
    const end = END.exec(line)
    if (end === null)
      return { state: 'begun', hidden: [...hidden, ...findKeyText(line, [begun, line.length], MIN_FULL_LINE)] }
    hidden.push(...findKeyText(line, [begun, end.index], 1))
  }
  return { state: 'outside', hidden }
}

function findKeyText(line: string, [from, to]: Range, least: number): Range[] {
  return findMatches(RUN, line.slice(from, to), ({ 1: run = '', index }) =>
    run.length < least ? null : [from + index, from + index + run.length],
  )
}
