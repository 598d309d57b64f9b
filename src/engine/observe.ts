import type { Exit, ParserState } from '../core/session/attempt.ts'
import { isThreadId } from '../core/session/conversation.ts'
import type { Session } from '../core/session/session-state.ts'
import type { Signal } from '../core/session/signals.ts'
import { formatBytes } from '../lib/bytes.ts'
import { headAndTail } from '../lib/text/head-and-tail.ts'
import { splitCompleteLines } from '../lib/text/split-lines.ts'
import { Trouble } from '../lib/errors.ts'
import type { Duration, Instant } from '../lib/time.ts'
import type { Agent, Observation, ParsedLine } from '../ports/agent.ts'
import type { Clock } from '../ports/clock.ts'
import type { AttemptRef, AttemptRunner, AttemptState, Runtime } from '../ports/runtime.ts'
import { attemptRef } from '../ports/runtime.ts'
import { requestedIn } from './signal-from-stored-request.ts'
import { type ThreadContext, checkFinalThread, checkRunningThread } from './thread-survey.ts'
import { UnfinishedLines } from './line-end-search.ts'

/** Bytes of output that one step parses at most, so that a verbose agent does not delay the other sessions. */
const CHUNK_SIZE = 1_048_576
/** Bytes after which the engine reads a line even without its end. */
const MAX_LINE_LENGTH = 64 * CHUNK_SIZE
/** Characters up to which the engine parses a line without a guard: no parser gets stuck on a line this short. */
const LONG_LINE_LENGTH = 32_768

/** Milliseconds. tmux opens a pane in milliseconds; a pane that has not started after this time never starts. */
const LAUNCH_TIMEOUT = 20_000

/** The news about a session's current attempt, and the offset up to which the engine has read its output. */
export interface AttemptObservation {
  readonly signals: readonly Signal[]
  /** The text for the transcript. */
  readonly text: string
  readonly output: number
  readonly memory: ParserState
  /** True when the engine must read more output before later signals can follow. */
  readonly hasMore: boolean
  /** True when the shim is dead and the agent is alive: no mailbox entry will announce the agent's end. */
  readonly isAdopted: boolean
  /** True when the pane is open and no shim has claimed the attempt yet. */
  readonly isAwaited: boolean
}

/**
 * Observes an attempt from outside and returns the news in the order of their occurrence: the attempt started, the
 * agent wrote output, the attempt ended. The last output of a terminal is complete once the attempt `isSwept`; before,
 * it may break off in the middle. `awaited` is the time already spent waiting for the pane, by the monotonic clock.
 * Death needs proof: an exit record, or the absence of both the process and the shim that would write the record.
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
  const { number: attempt } = session.attempt
  const state = readAttemptState(ref, runtime)
  const canSayMore = !hasEnded(state) || (session.spec.mode === 'tty' && !isSwept)
  const readOutcome =
    agent.readLine === undefined
      ? nothingRead(session)
      : readOutput(session, runtime, agent.readLine, { hasEnded: !canSayMore, unfinished })
  const signals: Signal[] = []
  if (state.life !== null && session.attempt.process === null)
    signals.push({ at, type: 'attempt.started', attempt, process: state.life })
  for (const observation of readOutcome.observations) {
    const signal = signalFor(observation, attempt, at)
    if (signal !== null) signals.push(signal)
  }
  if (readOutcome.note !== null) signals.push({ at, type: 'trouble.noted', note: readOutcome.note })
  const isUnconfirmed = session.attempt.input !== null && !session.attempt.input.isConfirmed
  if (isUnconfirmed && readOutcome.hasMore)
    signals.push(...checkRunningThread(withReportedThread(session, readOutcome.observations), context, at))
  if (!readOutcome.hasMore && session.attempt.exit === null) {
    const isOverdue = session.phase.name === 'starting' && isLaunchOverdue(session.phase, state, at, awaited)
    const death = findDeath(state, isOverdue) ?? findLostProcess(session, state, runtime)
    if (death?.type === 'process.died') signals.push(...explainExit(session, death.exit, context, at))
    // A command stores its request before it ends the program, so that we find the request after the death.
    if (death !== null) signals.push(...requestedIn(runtime, ref, at))
    if (death !== null) {
      const emptyTree = state.isTreeEmpty ? observeEmptyTree(session, context, at) : {}
      signals.push({ at, attempt, chance: clock.random(), ...markReboot(session, death, context), ...emptyTree })
    }
  }
  const { text, output, memory, hasMore } = readOutcome
  const isAdopted = state.shim === 'dead' && state.process === 'alive'
  const isAwaited = session.phase.name === 'starting' && !state.isClaimed && state.openedAt !== null
  return { signals, text, output, memory, hasMore, isAdopted, isAwaited }
}

/** Returns the session with the thread that these observations report. */
function withReportedThread(session: Session, observations: readonly Observation[]): Session {
  const names = observations.flatMap(observation => (observation.type === 'threaded' ? [observation.thread] : []))
  const id = names.findLast(isThreadId)
  return id === undefined ? session : { ...session, thread: { ...session.thread, id } }
}

/**
 * Reads the attempt's state before its output, so that the following read includes all output up to a death seen here.
 * If the shim is dead, a second read decides, because the shim may have written its record after the first.
 */
function readAttemptState(ref: AttemptRef, runtime: AttemptRunner): AttemptState {
  const first = runtime.attemptState(ref)
  return first.exit === null && first.shim === 'dead' ? runtime.attemptState(ref) : first
}

function hasEnded({ exit, shim, process }: AttemptState): boolean {
  return exit !== null || (shim === 'dead' && process === 'dead')
}

/** Measures by the monotonic clock or by the times on disk, because supervisors may restart during the wait. */
function isLaunchOverdue(
  { since }: { since: Instant },
  { openedAt }: AttemptState,
  now: Instant,
  awaited: Duration,
): boolean {
  if (openedAt === null) return false
  // A start in the future means that the clock was set back.
  const from = since > now ? openedAt : Math.max(since, openedAt)
  return awaited > LAUNCH_TIMEOUT || now - from > LAUNCH_TIMEOUT
}

type Death =
  | Pick<Extract<Signal, { type: 'process.died' }>, 'type' | 'exit' | 'seenAt' | 'memory' | 'emptyTree'>
  | Pick<Extract<Signal, { type: 'launch.failed' }>, 'type' | 'reason'>

function findDeath(state: AttemptState, isOverdue: boolean): Death | null {
  if (state.exit !== null) {
    const { exit, memory } = state
    return { type: 'process.died', exit, ...(memory !== null && { memory }) }
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

/** Asks the agent's driver for the meaning of an exit that the output alone does not explain. */
function explainExit(
  session: Session,
  exit: Exit,
  { work: runtime, agent }: { work: Runtime; agent: Agent },
  at: Instant,
): Signal[] {
  const word = agent.explainExit?.({
    exit,
    word: session.attempt.result,
    stderr: runtime.stderrTail(attemptRef(session)),
    memory: session.attempt.position.parserState,
    env: runtime.readEnvironment(session.spec.id),
  })
  return word ? [{ at, type: 'agent.finished', attempt: session.attempt.number, result: word }] : []
}

/**
 * Reports the death of a process whose record is lost: power may fail after we recorded the start but before the shim's
 * own record reached the disk.
 */
function findLostProcess(
  { attempt: { process: identity } }: Session,
  state: AttemptState,
  runtime: AttemptRunner,
): Death | null {
  const isLost = identity !== null && state.life === null && state.shim !== 'alive' && !runtime.isProcessAlive(identity)
  return isLost ? { type: 'process.died', exit: { kind: 'vanished', evidence: `pid ${identity.pid} is gone` } } : null
}

/**
 * Reports that the attempt left no process behind, with the final record of its thread. If the record cannot be read
 * now, a sweep comes first, and the engine reads the record after it. The record matters to a restart, not to an agent
 * that has ended its turn.
 */
function observeEmptyTree(
  session: Session,
  context: ThreadContext,
  at: Instant,
): Pick<Extract<Signal, { type: 'process.died' }>, 'emptyTree'> {
  if (session.attempt.result?.ok === true) return {}
  try {
    const [survey] = checkFinalThread(session, context, at)
    return { emptyTree: { survey: survey ?? null } }
  } catch (cause) {
    if (cause instanceof Trouble) return {}
    throw cause
  }
}

/** Attributes a death without a record to a restart of the machine, if the machine has restarted since. */
function markReboot(session: Session, death: Death, { work: runtime }: { work: AttemptRunner }): Death {
  const ref = attemptRef(session)
  const boot = session.attempt.process?.boot ?? runtime.attemptState(ref).life?.boot ?? runtime.boot
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
  /** Says how much output the engine skipped, if any. */
  readonly note: string | null
}

function nothingRead(session: Session): ReadOutcome {
  const { output, parserState: memory } = session.attempt.position
  return { observations: [], text: '', output, memory, hasMore: false, note: null }
}

/**
 * Reads complete lines from the last offset. A last line without a line end counts once the program can write no more.
 */
function readOutput(
  session: Session,
  runtime: AttemptRunner,
  read: NonNullable<Agent['readLine']>,
  { hasEnded, unfinished }: { hasEnded: boolean; unfinished: UnfinishedLines },
): ReadOutcome {
  const from = session.attempt.position.output
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
  const { parserState: memory } = session.attempt.position
  const mayTakeLong = lines.some(line => line.length > LONG_LINE_LENGTH)
  const parsed = mayTakeLong
    ? runtime.guardReading(attemptRef(session), from, isStuck => parseLines(lines, memory, read, isStuck))
    : parseLines(lines, memory, read, false)
  return { ...parsed, output: from + length, hasMore: length > 0 }
}

/** Skips long lines if an earlier supervisor got stuck here: one of them was the reason. */
function parseLines(
  lines: readonly string[],
  before: ParserState,
  read: NonNullable<Agent['readLine']>,
  isStuck: boolean,
): Pick<ReadOutcome, 'observations' | 'text' | 'memory' | 'note'> {
  let memory = before
  let skippedLength = 0
  const parsed: ParsedLine[] = []
  for (const line of lines) {
    if (isStuck && line.length > LONG_LINE_LENGTH) skippedLength += line.length
    if ((isStuck && line.length > LONG_LINE_LENGTH) || line.trim() === '') continue
    const reading = parseLineSafely(line, memory, read)
    memory = reading.memory ?? memory
    parsed.push(reading)
  }
  const note =
    skippedLength === 0
      ? null
      : `oneshot skipped ${formatBytes(skippedLength)} of output, because reading it took too long before`
  return {
    observations: parsed.flatMap(item => item.observations),
    text: parsed.map(item => item.text ?? '').join(''),
    memory,
    note,
  }
}

/** Shows a line unchanged if the agent's parser throws on it, so that no session gets stuck on a line. */
function parseLineSafely(line: string, memory: ParserState, read: NonNullable<Agent['readLine']>): ParsedLine {
  try {
    return read(line, memory)
  } catch {
    return { observations: [], text: `${headAndTail(line)}\n` }
  }
}

/** Returns null for a thread whose name is not an id: an agent may report any text. */
function signalFor(observation: Observation, attempt: number, at: number): Signal | null {
  switch (observation.type) {
    case 'threaded':
      return isThreadId(observation.thread) ? { at, attempt, type: 'agent.threaded', thread: observation.thread } : null
    case 'asked':
      return { at, attempt, type: 'agent.asked', question: observation.question }
    case 'answered':
      return { at, attempt, type: 'agent.answered' }
    case 'finished':
      return { at, attempt, type: 'agent.finished', result: observation.word }
    default:
      return { at, attempt, type: 'agent.told', update: observation }
  }
}
