import { type Checkpoint, CHECKPOINT_TRIGGERS, type CheckpointTrigger } from '../../../core/checkpoint/checkpoint.ts'
import { isSessionId } from '../../../core/session/names.ts'
import { decodeRawPath, encodeRawPath, type RawPath, displayPath } from '../../../lib/text/raw-path.ts'
import { toOneLine } from '../../../lib/text/terminal-text.ts'
import { type Instant, formatIso } from '../../../lib/time.ts'
import { isTreePath } from '../files.ts'

/** What a commit says of the checkpoint that it is. */
export interface CheckpointTrailers extends Omit<Checkpoint, 'commit'> {
  readonly sessionId: string
  /** Which repository of the session: empty for that of its folder. */
  readonly path: RawPath
  readonly nested: readonly NestedRepository[]
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
export interface NestedRepository {
  /** From the outermost working tree. */
  readonly path: RawPath
  /** A checkpoint of its own by its number, or, where nothing was different from it, its HEAD. */
  readonly state: number | string
  /** Whether only its HEAD was noted down, and git must not run in it. */
  readonly isHeadOnly?: true
}

/** Bytes. Our own are far smaller; a larger commit is not read at all. */
export const MAX_COMMIT_SIZE = 512 * 1024
const MAX_NUMBER = 0x7fff_ffff
const MAX_INSTANT: Instant = Date.UTC(9999, 11, 31)
const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const MAX_SENTENCES = 20
const MAX_SENTENCE_LENGTH = 500
/** Repositories in one working tree: each costs a restore some processes. */
const MAX_NESTED = 2_000

/**
 * A subject for people, what was written down with it, and trailers for us. The trailers are the last paragraph, as git would
 * have them, and so can always be told from whatever else is there.
 */
export function formatMessage(telling: CheckpointTrailers, record: string): string {
  const { number, trigger, path } = telling
  const subject = `oneshot: checkpoint ${number} (${trigger})${path === '' ? '' : ` of ${displayPath(path)}`}`
  const trailers = trailerLines(telling).map(([key, value]) => `Oneshot-${key}: ${value}\n`)
  return `${subject}\n\n${record}\n\n${trailers.join('')}`
}

function trailerLines(trailers: CheckpointTrailers): [key: string, value: string][] {
  const { change, head, claim } = trailers
  return [
    ['Checkpoint', `${trailers.number}`],
    ['Session', trailers.sessionId],
    ['At', formatIso(trailers.at)],
    ['Trigger', trailers.trigger],
    ['Attempt', `${trailers.attempt}`],
    ['Head', head ?? 'none'],
    ['Change', `${change.files} files, ${change.added} added, ${change.removed} removed`],
    ...(trailers.path === '' ? [] : [['Path', encodeRawPath(trailers.path)] as [string, string]]),
    ...(claim === undefined ? [] : [['Claim', `${claim.term} ${claim.sessionId} ${claim.host}`] as [string, string]]),
    ...trailers.leftOut.map((sentence): [string, string] => ['Left-Out', toOneLine(sentence)]),
    ...trailers.nested.map((nested): [string, string] => ['Nested', formatNested(nested)]),
  ]
}

function formatNested({ path, state, isHeadOnly }: NestedRepository): string {
  const kind = typeof state === 'number' ? 'checkpoint' : isHeadOnly ? 'noted' : 'commit'
  return `${encodeRawPath(path)} ${kind} ${state}`
}

/**
 * Null when it is the message of some other commit. Whoever can write to a remote can write one: each value is one that we
 * could have written ourselves, or the whole message is none of ours.
 */
export function parseMessage(message: string): CheckpointTrailers | null {
  const trailers = parseTrailers(message)
  const first = (key: string): string => trailers.find(([known]) => known === key)?.[1] ?? ''
  const all = (key: string): string[] => trailers.filter(([known]) => known === key).map(([, value]) => value)
  const [number, attempt] = [parseWholeNumber(first('Checkpoint')), parseWholeNumber(first('Attempt'))]
  const [sessionId, at, path, head] = [
    first('Session'),
    parseInstant(first('At')),
    decodeRawPath(first('Path')),
    first('Head'),
  ]
  if (number === null || number === 0 || attempt === null || at === null || !isSessionId(sessionId)) return null
  if (head !== 'none' && !OBJECT_ID.test(head)) return null
  if (path !== '' && !isTreePath(path)) return null
  const claim = parseClaim(first('Claim'))
  return {
    number,
    sessionId,
    at,
    trigger: parseTrigger(first('Trigger')),
    attempt,
    head: head === 'none' ? null : head,
    change: parseChange(first('Change')),
    path,
    leftOut: all('Left-Out')
      .slice(0, MAX_SENTENCES)
      .map(sentence => toOneLine(sentence).slice(0, MAX_SENTENCE_LENGTH)),
    nested: all('Nested').slice(0, MAX_NESTED).flatMap(parseNested),
    ...(claim !== null && { claim }),
  }
}

/** What was written down with it. */
export function parseRecord(message: string): string {
  return message.slice(message.indexOf('\n\n') + 2, lastParagraphStart(message) - 2)
}

function parseTrailers(message: string): [key: string, value: string][] {
  return message
    .slice(lastParagraphStart(message))
    .split('\n')
    .flatMap(line => {
      const [, key, value] = /^Oneshot-([\w-]{1,40}): (.*)$/.exec(line) ?? []
      return key === undefined || value === undefined ? [] : [[key, value]]
    })
}

function lastParagraphStart(message: string): number {
  return message.trimEnd().lastIndexOf('\n\n') + 2
}

function parseWholeNumber(text: string): number | null {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  return number <= MAX_NUMBER ? number : null
}

function parseInstant(text: string): Instant | null {
  const at = /^\d{4}-\d{2}-\d{2}T[\d:.]{8,12}Z$/.test(text) ? Date.parse(text) : Number.NaN
  return at >= 0 && at <= MAX_INSTANT ? at : null
}

/** It is shown, and nothing follows from it: one that cannot be read is none. */
function parseChange(text: string): CheckpointTrailers['change'] {
  const [, ...numbers] = /^(\d{1,15}) files, (\d{1,15}) added, (\d{1,15}) removed$/.exec(text) ?? []
  const [files = 0, added = 0, removed = 0] = numbers.map(Number)
  return { files, added, removed }
}

function parseNested(value: string): NestedRepository[] {
  const [word = '', kind, name = '', ...more] = value.split(' ')
  const [path, number] = [decodeRawPath(word), parseWholeNumber(name)]
  if (!isTreePath(path) || more.length > 0) return []
  if (kind === 'checkpoint') return number === null || number === 0 ? [] : [{ path, state: number }]
  if (!OBJECT_ID.test(name)) return []
  if (kind === 'noted') return [{ path, state: name, isHeadOnly: true }]
  return kind === 'commit' ? [{ path, state: name }] : []
}

function parseClaim(value: string): Claim | null {
  const [number = '', sessionId = '', host = ''] = value.split(' ')
  const term = parseWholeNumber(number)
  return term === null || term < 2 || !isSessionId(sessionId) ? null : { term, sessionId, host: sanitizeHostName(host) }
}

/** One word that can be printed as it is. */
export function sanitizeHostName(host: string): string {
  return host.replaceAll(/[^A-Za-z0-9._-]/g, '').slice(0, 63) || 'unknown'
}

/** One that a later version knows counts as one that somebody asked for. */
function parseTrigger(word: string): CheckpointTrigger {
  return CHECKPOINT_TRIGGERS.find(known => known === word) ?? 'asked'
}
