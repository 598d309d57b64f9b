import type { Exit, ParserState, Session } from '../core/session/session.ts'
import type { Signal } from '../core/session/signals.ts'
import { isThreadId } from '../core/session/conversation.ts'
import { formatBytes } from '../lib/bytes.ts'
import { headAndTail } from '../lib/text/lines.ts'
import { splitCompleteLines } from '../lib/text/lines.ts'
import type { Duration, Instant } from '../lib/time.ts'
import type { Agent, Observation, ParsedLine } from '../ports/agent.ts'
import type { Clock } from '../ports/clock.ts'
import type { AttemptRef, AttemptState, Runtime } from '../ports/runtime.ts'
import { attemptRef } from '../ports/runtime.ts'
import { requestedIn } from './stored-requests.ts'
import { type ThreadContext, checkRunningThread } from './thread-lookup.ts'
import { UnfinishedLines } from './unfinished-lines.ts'

/** At most this much output is interpreted in one step, so that one chatty agent does not hold up the others. */
const CHUNK_SIZE = 1_048_576
/** A line longer than this is not worth waiting for its end. */
const MAX_LINE_LENGTH = 64 * CHUNK_SIZE
/** A shorter line holds nobody up, whatever is in it. */
const LONG_LINE_LENGTH = 32_768

/** tmux opens a pane in milliseconds; one that has not come to life after this long never will. */
const LAUNCH_TIMEOUT = 20_000

/** What is new about a session's current attempt, and how far its output was read to learn it. */
export interface AttemptObservation {
  readonly signals: readonly Signal[]
  /** What people read of it. */
  readonly text: string
  readonly output: number
  readonly memory: ParserState
  /** There is more output to read before the rest can be told. */
  readonly hasMore: boolean
  /** Its shim is dead and it lives on: nobody will ring when it ends. */
  readonly isAdopted: boolean
  /** Its pane was opened, and nobody in it has taken the attempt yet. */
  readonly isAwaited: boolean
}

/**
 * Looks at an attempt from outside and says what is new, in the order it happened: it started, it spoke, it ended.
 * A terminal's last words are recorded by the time its attempt `isSwept`, and may be torn before. `awaited` is for how long
 * it has been waited for already, by a clock that nobody sets.
 * Death needs proof: an exit record, or a process that is gone together with the shim that would have written one.
 */
export function observeAttempt(
  session: Session,
  context: ThreadContext & { clock: Clock },
  {
    isSwept = false,
    awaited = 0,
    unfinished = new UnfinishedLines(),
  }: { isSwept?: boolean; awaited?: Duration; unfinished?: UnfinishedLines } = {},
): AttemptObservation {
  const { work: runtime, agent, clock } = context
  const ref = attemptRef(session)
  const at = clock.now()
  const { attempt } = session
  const state = readAttemptState(ref, runtime)
  const canSayMore = !hasEnded(state) || (session.spec.mode === 'tty' && !isSwept)
  const readOutcome =
    agent.readLine === undefined
      ? nothingRead(session)
      : readOutput(session, runtime, agent.readLine, { hasEnded: !canSayMore, unfinished })
  const signals: Signal[] = []
  if (state.life !== null && session.life === null)
    signals.push({ at, type: 'attempt.started', attempt, life: state.life })
  signals.push(...readOutcome.observations.map(observation => signalFor(observation, attempt, at)))
  if (readOutcome.note !== null) signals.push({ at, type: 'trouble.noted', note: readOutcome.note })
  const isUnconfirmed = session.errand !== null && !session.errand.isConfirmed
  if (isUnconfirmed && readOutcome.hasMore)
    signals.push(...checkRunningThread(withReportedThread(session, readOutcome.observations), context, at))
  if (!readOutcome.hasMore && session.exit === null) {
    const isOverdue = session.phase.name === 'starting' && isLaunchOverdue(session.phase, state, at, awaited)
    const death = findDeath(state, isOverdue) ?? findLostProcess(session, state, runtime)
    if (death?.type === 'process.died') signals.push(...explainExit(session, death.exit, context, at))
    // A command stores its request before it ends the program, so that we find the request after the death.
    if (death !== null) signals.push(...requestedIn(runtime, ref, at))
    if (death !== null) signals.push({ at, attempt, chance: clock.random(), ...markReboot(session, death, context) })
  }
  const { text, output, memory, hasMore } = readOutcome
  const isAdopted = state.shim === 'dead' && state.process === 'alive'
  const isAwaited = session.phase.name === 'starting' && !state.isClaimed && state.openedAt !== null
  return { signals, text, output, memory, hasMore, isAdopted, isAwaited }
}

/** The session with the thread it has just told. */
function withReportedThread(session: Session, observations: readonly Observation[]): Session {
  const told = observations.findLast(said => said.type === 'threaded' && isThreadId(said.thread))
  return told?.type !== 'threaded' ? session : { ...session, thread: { ...session.thread, id: told.thread } }
}

/**
 * What is known before the output is read: all that was said up to a death seen here is then read as well. Once a shim is
 * known to be dead a second look decides, for it may have written its record after the first.
 */
function readAttemptState(ref: AttemptRef, runtime: Runtime): AttemptState {
  const first = runtime.attemptState(ref)
  return first.exit === null && first.shim === 'dead' ? runtime.attemptState(ref) : first
}

function hasEnded({ exit, shim, process }: AttemptState): boolean {
  return exit !== null || (shim === 'dead' && process === 'dead')
}

/** By a clock that nobody sets, or by all that is on disk: supervisors may come and go meanwhile. */
function isLaunchOverdue(
  { since }: { since: Instant },
  { openedAt }: AttemptState,
  now: Instant,
  awaited: Duration,
): boolean {
  if (openedAt === null) return false
  const from = since > now ? openedAt : Math.max(since, openedAt) // What is yet to come is of a clock that was set back.
  return awaited > LAUNCH_TIMEOUT || now - from > LAUNCH_TIMEOUT
}

type Death =
  | Pick<Extract<Signal, { type: 'process.died' }>, 'type' | 'exit' | 'seenAt' | 'isAlone' | 'memory'>
  | Pick<Extract<Signal, { type: 'launch.failed' }>, 'type' | 'reason'>

function findDeath(state: AttemptState, isOverdue: boolean): Death | null {
  if (state.exit !== null) {
    const { exit, isTreeEmpty: isAlone, memory } = state
    return { type: 'process.died', exit, isAlone, ...(memory !== null && { memory }) }
  }
  if (state.refusal !== null) return { type: 'launch.failed', reason: state.refusal }
  if (!state.isClaimed && state.openedAt !== null && isOverdue)
    return { type: 'launch.failed', reason: 'its pane never started' }
  if (state.shim !== 'dead') return null
  if (state.life === null) return { type: 'launch.failed', reason: 'its shim died before the program was started' }
  if (state.process !== 'dead') return null
  return {
    type: 'process.died',
    exit: { kind: 'vanished', evidence: `pid ${state.life.pid} and its shim are gone` },
  }
}

/** What its end means where its words alone do not tell. */
function explainExit(
  session: Session,
  exit: Exit,
  { work: runtime, agent }: { work: Runtime; agent: Agent },
  at: Instant,
): Signal[] {
  const word = agent.explainExit?.({
    exit,
    word: session.lastWord,
    stderr: runtime.stderrTail(attemptRef(session)),
    memory: session.bookmark.memory,
    env: runtime.readEnvironment(session.spec.id),
  })
  return word ? [{ at, type: 'agent.finished', attempt: session.attempt, word }] : []
}

/** Power may have failed before what the shim wrote was on disk, but after we had recorded it. */
function findLostProcess({ life }: Session, state: AttemptState, runtime: Runtime): Death | null {
  const isLost = life !== null && state.life === null && state.shim !== 'alive' && !runtime.isProcessAlive(life)
  return isLost ? { type: 'process.died', exit: { kind: 'vanished', evidence: `pid ${life.pid} is gone` } } : null
}

/** Whatever is gone without a record went down with its machine, if that was restarted since. */
function markReboot(session: Session, death: Death, { work: runtime }: { work: Runtime }): Death {
  const ref = attemptRef(session)
  const boot = session.life?.boot ?? runtime.attemptState(ref).life?.boot ?? runtime.boot
  const isReboot = death.type === 'process.died' && death.exit.kind === 'vanished' && boot !== runtime.boot
  if (!isReboot) return death
  const seenAt = runtime.lastActiveAt(ref)
  const exit = { kind: 'vanished', evidence: 'the machine was restarted', isReboot } as const
  return { type: 'process.died', exit, ...(seenAt !== null && { seenAt }) }
}

interface ReadOutcome {
  readonly observations: readonly Observation[]
  readonly text: string
  readonly output: number
  readonly memory: ParserState
  readonly hasMore: boolean
  /** What was left out of it, if anything was. */
  readonly note: string | null
}

function nothingRead(session: Session): ReadOutcome {
  const { output, memory } = session.bookmark
  return { observations: [], text: '', output, memory, hasMore: false, note: null }
}

/** Reads whole lines from where we left off. A last line without an end counts once the program can write no more. */
function readOutput(
  session: Session,
  runtime: Runtime,
  read: NonNullable<Agent['readLine']>,
  { hasEnded, unfinished }: { hasEnded: boolean; unfinished: UnfinishedLines },
): ReadOutcome {
  const from = session.bookmark.output
  if (!hasEnded && unfinished.isUnfinished(attemptRef(session), from, runtime, MAX_LINE_LENGTH))
    return nothingRead(session)
  let bytes = runtime.readOutput(attemptRef(session), from, CHUNK_SIZE)
  let { lines, length } = splitCompleteLines(bytes)
  for (let size = CHUNK_SIZE * 2; length === 0 && bytes.length === size / 2 && size <= MAX_LINE_LENGTH; size *= 2) {
    bytes = runtime.readOutput(attemptRef(session), from, size)
    ;({ lines, length } = splitCompleteLines(bytes))
  }
  if (length === 0 && bytes.length > 0 && (hasEnded || bytes.length >= MAX_LINE_LENGTH)) {
    lines = [new TextDecoder().decode(bytes)]
    length = bytes.length
  }
  if (length === 0 && bytes.length > 0) unfinished.note(attemptRef(session), from, from + bytes.length)
  else unfinished.forget(session.spec.id)
  const { memory } = session.bookmark
  const mayTakeLong = lines.some(line => line.length > LONG_LINE_LENGTH)
  const heard = mayTakeLong
    ? runtime.guardReading(attemptRef(session), from, isStuck => parseLines(lines, memory, read, isStuck))
    : parseLines(lines, memory, read, false)
  return { ...heard, output: from + length, hasMore: length > 0 }
}

/** Where a supervisor was stuck before, long lines are left out: one of them was the reason. */
function parseLines(
  lines: readonly string[],
  before: ParserState,
  read: NonNullable<Agent['readLine']>,
  isStuck: boolean,
): Pick<ReadOutcome, 'observations' | 'text' | 'memory' | 'note'> {
  let memory = before
  let leftOut = 0
  const heard: ParsedLine[] = []
  for (const line of lines) {
    if (isStuck && line.length > LONG_LINE_LENGTH) leftOut += line.length
    if ((isStuck && line.length > LONG_LINE_LENGTH) || line.trim() === '') continue
    const reading = parseLineSafely(line, memory, read)
    memory = reading.memory ?? memory
    heard.push(reading)
  }
  const note =
    leftOut === 0 ? null : `oneshot skipped ${formatBytes(leftOut)} of output, because reading it took too long before`
  return {
    observations: heard.flatMap(item => item.observations),
    text: heard.map(item => item.text ?? '').join(''),
    memory,
    note,
  }
}

/** A line that its agent's reader stumbles over is shown as it is: nobody must stay stuck on it. */
function parseLineSafely(line: string, memory: ParserState, read: NonNullable<Agent['readLine']>): ParsedLine {
  try {
    return read(line, memory)
  } catch {
    return { observations: [], text: `${headAndTail(line)}\n` }
  }
}

function signalFor(observation: Observation, attempt: number, at: number): Signal {
  switch (observation.type) {
    case 'threaded':
      return { at, attempt, type: 'agent.threaded', thread: observation.thread }
    case 'asked':
      return { at, attempt, type: 'agent.asked', question: observation.question }
    case 'answered':
      return { at, attempt, type: 'agent.answered' }
    case 'finished':
      return { at, attempt, type: 'agent.finished', word: observation.word }
    default:
      return { at, attempt, type: 'agent.told', news: observation }
  }
}
