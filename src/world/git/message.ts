import { type Checkpoint, TRIGGERS, type Trigger } from '../../core/checkpoint.ts'
import { decodeRaw, encodeRaw, type RawPath, shown } from '../../lib/raw-path.ts'
import { iso } from '../../lib/time.ts'

/** What a commit says of the checkpoint that it is. */
export interface Telling extends Omit<Checkpoint, 'commit'> {
  readonly sessionId: string
  /** Which repository of the session: empty for that of its folder. */
  readonly path: RawPath
  readonly nested: readonly Nested[]
}

/** What was in a repository that lies in the working tree. */
export interface Nested {
  /** From the outermost working tree. */
  readonly path: RawPath
  /** A checkpoint of its own by its number, or, where nothing was different from it, its HEAD. */
  readonly state: number | string
}

/**
 * A subject for people, what was written down with it, and trailers for us. The trailers are the last paragraph, as git would
 * have them, and so can always be told from whatever else is there.
 */
export function writeMessage(telling: Telling, record: string): string {
  const { number, trigger, path } = telling
  const subject = `oneshot: checkpoint ${number} (${trigger})${path === '' ? '' : ` of ${shown(path)}`}`
  const trailers = trailersOf(telling).map(([key, value]) => `Oneshot-${key}: ${value}\n`)
  return `${subject}\n\n${record}\n\n${trailers.join('')}`
}

function trailersOf(telling: Telling): [key: string, value: string][] {
  const { change, head } = telling
  return [
    ['Checkpoint', `${telling.number}`],
    ['Session', telling.sessionId],
    ['At', iso(telling.at)],
    ['Trigger', telling.trigger],
    ['Attempt', `${telling.attempt}`],
    ['Head', head ?? 'none'],
    ['Change', `${change.files} files, ${change.added} added, ${change.removed} removed`],
    ...(telling.path === '' ? [] : [['Path', encodeRaw(telling.path)] as [string, string]]),
    ...telling.leftOut.map((sentence): [string, string] => ['Left-Out', sentence.replaceAll(/\s+/g, ' ').trim()]),
    ...telling.nested.map(({ path, state }): [string, string] => [
      'Nested',
      `${encodeRaw(path)} ${typeof state === 'number' ? `checkpoint ${state}` : `commit ${state}`}`,
    ]),
  ]
}

/** Null when it is the message of some other commit. */
export function readMessage(message: string): Telling | null {
  const trailers = readTrailers(message)
  const first = (key: string): string => trailers.find(([known]) => known === key)?.[1] ?? ''
  const all = (key: string): string[] => trailers.filter(([known]) => known === key).map(([, value]) => value)
  if (first('Checkpoint') === '' || first('Session') === '') return null
  const [files = 0, added = 0, removed = 0] = first('Change').match(/\d+/g)?.map(Number) ?? []
  return {
    number: Number(first('Checkpoint')),
    sessionId: first('Session'),
    at: Date.parse(first('At')),
    trigger: triggerOf(first('Trigger')),
    attempt: Number(first('Attempt')),
    head: first('Head') === 'none' ? null : first('Head'),
    change: { files, added, removed },
    path: decodeRaw(first('Path')),
    leftOut: all('Left-Out'),
    nested: all('Nested').map(readNested),
  }
}

/** What was written down with it. */
export function readRecord(message: string): string {
  return message.slice(message.indexOf('\n\n') + 2, lastParagraph(message) - 2)
}

function readTrailers(message: string): [key: string, value: string][] {
  return message
    .slice(lastParagraph(message))
    .split('\n')
    .flatMap(line => {
      const [, key, value] = /^Oneshot-([\w-]+): (.*)$/.exec(line) ?? []
      return key === undefined || value === undefined ? [] : [[key, value]]
    })
}

function lastParagraph(message: string): number {
  return message.trimEnd().lastIndexOf('\n\n') + 2
}

function readNested(value: string): Nested {
  const [path = '', kind, state = ''] = value.split(' ')
  return { path: decodeRaw(path), state: kind === 'checkpoint' ? Number(state) : state }
}

/** One that a later version knows counts as one that somebody asked for. */
function triggerOf(word: string): Trigger {
  return TRIGGERS.find(known => known === word) ?? 'asked'
}
