import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import type { Refusal } from '../../lib/refusal.ts'
import type { Line } from '../line/line.ts'
import { isBlank, nameOf, readText } from '../read-text.ts'
import { bytesOfArgument } from '../run/raw-arguments.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

/** Which words of the line mean what. */
export interface Parts {
  /** The session's name; undefined means this directory's. */
  readonly name: string | undefined
  /** A file or `-`; undefined when the text itself was typed. */
  readonly source: string | undefined
  /** Which word is the text. */
  readonly place: number
}

/** Tells name and text apart. A name alone is a text that was forgotten, and is not sent to somebody else. */
export function partsOf(line: Line, sessions: readonly SessionView[]): Parts {
  const { words } = line
  const file = line.value(OPTIONS.file)
  if (file !== undefined) {
    if (words.length > 1 || words[0] === '-')
      throw refusal('usage', 'there are two texts: an argument and --file', 'give one of them')
    return { name: words[0], source: file, place: -1 }
  }
  const [first, second] = words
  if (first === undefined) throw refusal('usage', 'send needs a text', 'oneshot send "now add tests"')
  if (second === undefined && isNameOf(sessions, first)) throw noText(first)
  const place = words.length - 1
  return { name: second === undefined ? undefined : first, source: words[place] === '-' ? '-' : undefined, place }
}

/** The message as bytes. */
export async function readMessage(
  { source, place }: Parts,
  line: Line,
  { argv, screen }: Surroundings,
): Promise<Buffer> {
  const bytes =
    source === undefined
      ? bytesOfArgument(argv, line.places[place] as number)
      : await readText(source, { what: 'message', option: 'file' }, screen)
  if (!isBlank(bytes)) return bytes
  const origin = source === undefined ? '' : ` from ${nameOf(source)}`
  throw refusal(
    'message-empty',
    `the message${origin} is empty`,
    'say what it is to read: oneshot send "now add tests"',
  )
}

function isNameOf(sessions: readonly SessionView[], word: string): boolean {
  return sessions.some(({ name, task, id }) => [name, task, id].includes(word))
}

function noText(name: string): Refusal {
  return refusal('usage', `there is no text for ${name}`, `oneshot send ${name} "now add tests", or with --file FILE`)
}
