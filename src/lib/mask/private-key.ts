import { findMatches, type Range } from './pattern.ts'

/** Where the reader of a text stands: outside of any private key, after the first line of one, or among its lines. */
export type KeyState = 'outside' | 'begun' | 'inside'

/** The word that every key begins with. */
export const KEY_ANCHOR = '-----BEGIN '

const BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
const END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
/** A line of it, after what a program may write in front: spaces, a bar, the line's number. */
const LINE = /^([^A-Za-z0-9+/=]{0,12}(?:\d{1,6}[^A-Za-z0-9+/=]{1,4})?)([A-Za-z0-9+/=]+)[^A-Za-z0-9+/=]{0,12}$/
/** What is left when the line ends of a string are taken out that are written as \\n. */
const RUN = /\\[nrt]|([A-Za-z0-9+/=]+)/g
/** Shorter than this is only its last line. */
const MIN_FULL_LINE = 32
const HEADER =
  /^[^A-Za-z0-9]{0,12}(?:\d{1,6}[^A-Za-z0-9]{1,4})?(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): .{0,200})?$/

/** Says which parts of a line belong to a private key, and where the reader stands after it. */
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

/** Outside of a key: finds those that are in this one line, as in a string whose line ends are escaped. */
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
