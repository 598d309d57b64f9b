import { type Checkpoint, TRIGGERS, type Trigger } from '../../core/checkpoint.ts'
import { isSessionId } from '../../core/session-id.ts'
import { decodeRaw, encodeRaw, type RawPath, shown } from '../../lib/raw-path.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { type Instant, iso } from '../../lib/time.ts'
import { isTreePath } from './tree-path.ts'

/** What a commit says of the checkpoint that it is. */
export interface Telling extends Omit<Checkpoint, 'commit'> {
  readonly sessionId: string
  /** Which repository of the session: empty for that of its folder. */
  readonly path: RawPath
  readonly nested: readonly Nested[]
  /** The session that continues this one, once another machine has claimed it. */
  readonly claim?: Claim
}

/** Who continues a session from here on. */
export interface Claim {
  /** Counts the claims of one session from 2 on; whoever has the higher one is right. */
  readonly term: number
  readonly sessionId: string
  /** The name of the machine, for people. */
  readonly host: string
}

/** What was in a repository that lies in the working tree. */
export interface Nested {
  /** From the outermost working tree. */
  readonly path: RawPath
  /** A checkpoint of its own by its number, or, where nothing was different from it, its HEAD. */
  readonly state: number | string
  /** Whether only its HEAD was noted down, and git must not run in it. */
  readonly isNoted?: true
}

/** Bytes. Our own are far smaller; a larger commit is not read at all. */
export const LARGEST_COMMIT = 512 * 1024
const LARGEST_NUMBER = 0x7fff_ffff
const LAST_INSTANT: Instant = Date.UTC(9999, 11, 31)
const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const MOST_SENTENCES = 20
const LONGEST_SENTENCE = 500
/** Repositories in one working tree: each costs a restore some processes. */
const MOST_NESTED = 2_000

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
  const { change, head, claim } = telling
  return [
    ['Checkpoint', `${telling.number}`],
    ['Session', telling.sessionId],
    ['At', iso(telling.at)],
    ['Trigger', telling.trigger],
    ['Attempt', `${telling.attempt}`],
    ['Head', head ?? 'none'],
    ['Change', `${change.files} files, ${change.added} added, ${change.removed} removed`],
    ...(telling.path === '' ? [] : [['Path', encodeRaw(telling.path)] as [string, string]]),
    ...(claim === undefined ? [] : [['Claim', `${claim.term} ${claim.sessionId} ${claim.host}`] as [string, string]]),
    ...telling.leftOut.map((sentence): [string, string] => ['Left-Out', oneLine(sentence)]),
    ...telling.nested.map((nested): [string, string] => ['Nested', nestedWords(nested)]),
  ]
}

function nestedWords({ path, state, isNoted }: Nested): string {
  const kind = typeof state === 'number' ? 'checkpoint' : isNoted ? 'noted' : 'commit'
  return `${encodeRaw(path)} ${kind} ${state}`
}

/**
 * Null when it is the message of some other commit. Whoever can write to a remote can write one: each value is one that we
 * could have written ourselves, or the whole message is none of ours.
 */
export function readMessage(message: string): Telling | null {
  const trailers = readTrailers(message)
  const first = (key: string): string => trailers.find(([known]) => known === key)?.[1] ?? ''
  const all = (key: string): string[] => trailers.filter(([known]) => known === key).map(([, value]) => value)
  const [number, attempt] = [wholeNumber(first('Checkpoint')), wholeNumber(first('Attempt'))]
  const [sessionId, at, path, head] = [
    first('Session'),
    instantIn(first('At')),
    decodeRaw(first('Path')),
    first('Head'),
  ]
  if (number === null || number === 0 || attempt === null || at === null || !isSessionId(sessionId)) return null
  if (head !== 'none' && !OBJECT_ID.test(head)) return null
  if (path !== '' && !isTreePath(path)) return null
  const claim = readClaim(first('Claim'))
  return {
    number,
    sessionId,
    at,
    trigger: triggerOf(first('Trigger')),
    attempt,
    head: head === 'none' ? null : head,
    change: readChange(first('Change')),
    path,
    leftOut: all('Left-Out')
      .slice(0, MOST_SENTENCES)
      .map(sentence => oneLine(sentence).slice(0, LONGEST_SENTENCE)),
    nested: all('Nested').slice(0, MOST_NESTED).flatMap(readNested),
    ...(claim !== null && { claim }),
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
      const [, key, value] = /^Oneshot-([\w-]{1,40}): (.*)$/.exec(line) ?? []
      return key === undefined || value === undefined ? [] : [[key, value]]
    })
}

function lastParagraph(message: string): number {
  return message.trimEnd().lastIndexOf('\n\n') + 2
}

function wholeNumber(text: string): number | null {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  return number <= LARGEST_NUMBER ? number : null
}

function instantIn(text: string): Instant | null {
  const at = /^\d{4}-\d{2}-\d{2}T[\d:.]{8,12}Z$/.test(text) ? Date.parse(text) : Number.NaN
  return at >= 0 && at <= LAST_INSTANT ? at : null
}

/** It is shown, and nothing follows from it: one that cannot be read is none. */
function readChange(text: string): Telling['change'] {
  const [, ...numbers] = /^(\d{1,15}) files, (\d{1,15}) added, (\d{1,15}) removed$/.exec(text) ?? []
  const [files = 0, added = 0, removed = 0] = numbers.map(Number)
  return { files, added, removed }
}

function readNested(value: string): Nested[] {
  const [word = '', kind, name = '', ...more] = value.split(' ')
  const [path, number] = [decodeRaw(word), wholeNumber(name)]
  if (!isTreePath(path) || more.length > 0) return []
  if (kind === 'checkpoint') return number === null || number === 0 ? [] : [{ path, state: number }]
  if (!OBJECT_ID.test(name)) return []
  if (kind === 'noted') return [{ path, state: name, isNoted: true }]
  return kind === 'commit' ? [{ path, state: name }] : []
}

function readClaim(value: string): Claim | null {
  const [number = '', sessionId = '', host = ''] = value.split(' ')
  const term = wholeNumber(number)
  return term === null || term < 2 || !isSessionId(sessionId) ? null : { term, sessionId, host: hostName(host) }
}

/** One word that can be printed as it is. */
export function hostName(host: string): string {
  return host.replaceAll(/[^A-Za-z0-9._-]/g, '').slice(0, 63) || 'unknown'
}

/** One that a later version knows counts as one that somebody asked for. */
function triggerOf(word: string): Trigger {
  return TRIGGERS.find(known => known === word) ?? 'asked'
}
