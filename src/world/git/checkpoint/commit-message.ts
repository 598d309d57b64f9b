import { type Checkpoint, CHECKPOINT_TRIGGERS, type CheckpointTrigger } from '../../../core/checkpoint/checkpoint.ts'
import { isSessionId, type SessionId } from '../../../core/session/session-id-and-name.ts'
import { decodeRawPath, encodeRawPath, type RawPath, displayPath } from '../../../lib/text/raw-path.ts'
import { toOneLine } from '../../../lib/text/strip-terminal-controls.ts'
import { type Instant, formatIso } from '../../../lib/time.ts'
import { isTreePath } from '../is-safe-tree-path.ts'

/** The values that a checkpoint commit stores in its message. */
export interface CheckpointTrailers extends Omit<Checkpoint, 'commit'> {
  readonly sessionId: SessionId
  /** The repository within the session; empty for the repository of the session's folder. */
  readonly path: RawPath
  readonly nested: readonly NestedRepository[]
  /** The session that continues this one, once another machine has claimed it. */
  readonly claim?: Claim
}

/** Names the session that continues a claimed session. */
export interface Claim {
  /** Counts the claims of one session, starting at 2; the highest term wins. */
  readonly term: number
  readonly sessionId: SessionId
  /** The name of the machine, for people. */
  readonly host: string
}

/** The state of a repository inside the working tree. */
export interface NestedRepository {
  /** The path from the outermost working tree. */
  readonly path: RawPath
  /** The number of the nested repository's own checkpoint, or its HEAD if nothing differed from HEAD. */
  readonly state: number | string
  /** True if the checkpoint recorded only HEAD; git must not run in this repository. */
  readonly isHeadOnly?: true
}

/** Bytes. Our own commits are far smaller; the reader skips a larger commit. */
export const MAX_COMMIT_SIZE = 512 * 1024
const MAX_NUMBER = 0x7fff_ffff
const MAX_INSTANT: Instant = Date.UTC(9999, 11, 31)
const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const MAX_SENTENCES = 20
const MAX_SENTENCE_LENGTH = 500
/** Repositories in one working tree: a restore starts several processes for each. */
const MAX_NESTED = 2_000

/**
 * Formats a subject for people, the record, and trailers for the parser. The trailers form the last paragraph, as git
 * expects, so the parser can always separate them from the rest.
 */
export function formatMessage(trailers: CheckpointTrailers, record: string): string {
  const { number, trigger, path } = trailers
  const subject = `oneshot: checkpoint ${number} (${trigger})${path === '' ? '' : ` of ${displayPath(path)}`}`
  const lines = trailerLines(trailers).map(([key, value]) => `Oneshot-${key}: ${value}\n`)
  return `${subject}\n\n${record}\n\n${lines.join('')}`
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
 * Returns null for any other commit. Anybody with write access to a remote can forge a message: the parser accepts a
 * message only if oneshot could have written every value in it.
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

/** Returns the record that the checkpoint stores. */
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

/** Returns zeros for unreadable text. The views show the change, and no decision depends on it. */
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

/** Returns one word that is safe to print. */
export function sanitizeHostName(host: string): string {
  return host.replaceAll(/[^A-Za-z0-9._-]/g, '').slice(0, 63) || 'unknown'
}

/** A trigger from a later version counts as `asked`. */
function parseTrigger(word: string): CheckpointTrigger {
  return CHECKPOINT_TRIGGERS.find(known => known === word) ?? 'asked'
}
