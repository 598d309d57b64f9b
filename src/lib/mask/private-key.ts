import { matchesOf, type Part } from './part.ts'

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
const FULL = 32
const HEADER =
  /^[^A-Za-z0-9]{0,12}(?:\d{1,6}[^A-Za-z0-9]{1,4})?(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): .{0,200})?$/

/** Says which parts of a line belong to a private key, and where the reader stands after it. */
export function readKeyLine(line: string, state: KeyState): { readonly state: KeyState; readonly hidden: Part[] } {
  if (state === 'outside') return readOn(line, 0, [])
  END.lastIndex = 0
  const end = END.exec(line)
  if (end !== null) return readOn(line, END.lastIndex, runs(line, [0, end.index], 1))
  const [, before = '', body = ''] = LINE.exec(line) ?? []
  const isBody = body.length >= FULL || (body !== '' && state === 'inside')
  if (isBody) {
    return { state: body.length >= FULL ? 'inside' : 'outside', hidden: [[before.length, before.length + body.length]] }
  }
  return HEADER.test(line) ? { state, hidden: [] } : readOn(line, 0, [])
}

/** Outside of a key: finds those that are in this one line, as in a string whose line ends are escaped. */
function readOn(line: string, from: number, hidden: Part[]): { state: KeyState; hidden: Part[] } {
  for (BEGIN.lastIndex = from; BEGIN.exec(line) !== null; BEGIN.lastIndex = END.lastIndex) {
    const begun = BEGIN.lastIndex
    END.lastIndex = begun
    const end = END.exec(line)
    if (end === null) return { state: 'begun', hidden: [...hidden, ...runs(line, [begun, line.length], FULL)] }
    hidden.push(...runs(line, [begun, end.index], 1))
  }
  return { state: 'outside', hidden }
}

function runs(line: string, [from, to]: Part, least: number): Part[] {
  return matchesOf(RUN, line.slice(from, to), ({ 1: run = '', index }) =>
    run.length < least ? null : [from + index, from + index + run.length],
  )
}
