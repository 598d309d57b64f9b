import type { Exit, Memory, Session } from '../core/session.ts'
import type { Signal } from '../core/signals.ts'
import { isThreadId } from '../core/thread-id.ts'
import { formatBytes } from '../lib/bytes.ts'
import { endsOf } from '../lib/ends-of.ts'
import { completeLines } from '../lib/lines.ts'
import type { Duration, Instant } from '../lib/time.ts'
import type { Agent, Observation, Reading } from '../ports/agent.ts'
import type { Clock } from '../ports/clock.ts'
import type { AttemptRef, Evidence, Work } from '../ports/work.ts'
import { attemptRef } from './attempt-ref.ts'
import { requestedIn } from './stored-requests.ts'
import { type Archive, glance } from './thread.ts'
import { UnfinishedLines } from './unfinished-lines.ts'

/** At most this much output is interpreted in one step, so that one chatty agent does not hold up the others. */
const CHUNK = 1_048_576
/** A line longer than this is not worth waiting for its end. */
const LONGEST_LINE = 64 * CHUNK
/** A shorter line holds nobody up, whatever is in it. */
const LONG_LINE = 32_768

/** tmux opens a pane in milliseconds; one that has not come to life after this long never will. */
const LAUNCH_PATIENCE = 20_000

/** What is new about a session's current attempt, and how far its output was read to learn it. */
export interface Observed {
  readonly signals: readonly Signal[]
  /** What people read of it. */
  readonly text: string
  readonly output: number
  readonly memory: Memory
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
export function observe(
  session: Session,
  world: Archive & { clock: Clock },
  {
    isSwept = false,
    awaited = 0,
    unfinished = new UnfinishedLines(),
  }: { isSwept?: boolean; awaited?: Duration; unfinished?: UnfinishedLines } = {},
): Observed {
  const { work, agent, clock } = world
  const ref = attemptRef(session)
  const at = clock.now()
  const { attempt } = session
  const evidence = lookAt(ref, work)
  const canSayMore = !isOver(evidence) || (session.spec.mode === 'tty' && !isSwept)
  const speech =
    agent.read === undefined
      ? silence(session)
      : listen(session, work, agent.read, { hasEnded: !canSayMore, unfinished })
  const signals: Signal[] = []
  if (evidence.life !== null && session.life === null)
    signals.push({ at, type: 'attempt.started', attempt, life: evidence.life })
  signals.push(...speech.observations.map(observation => signalFor(observation, attempt, at)))
  if (speech.note !== null) signals.push({ at, type: 'trouble.noted', note: speech.note })
  const isUnconfirmed = session.errand !== null && !session.errand.isConfirmed
  if (isUnconfirmed && speech.hasMore) signals.push(...glance(named(session, speech.observations), world, at))
  if (!speech.hasMore && session.exit === null) {
    const isOverdue = session.phase.name === 'starting' && isLate(session.phase, evidence, at, awaited)
    const death = deathIn(evidence, isOverdue) ?? withoutTrace(session, evidence, work)
    if (death?.type === 'process.died') signals.push(...explain(session, death.exit, world, at))
    // A command stores its request before it ends the program, so that we find the request after the death.
    if (death !== null) signals.push(...requestedIn(work, ref, at))
    if (death !== null) signals.push({ at, attempt, chance: clock.chance(), ...withTheMachine(session, death, world) })
  }
  const { text, output, memory, hasMore } = speech
  const isAdopted = evidence.shim === 'dead' && evidence.process === 'alive'
  const isAwaited = session.phase.name === 'starting' && !evidence.isClaimed && evidence.openedAt !== null
  return { signals, text, output, memory, hasMore, isAdopted, isAwaited }
}

/** The session with the thread it has just told. */
function named(session: Session, observations: readonly Observation[]): Session {
  const told = observations.findLast(said => said.type === 'threaded' && isThreadId(said.thread))
  return told?.type !== 'threaded' ? session : { ...session, thread: { ...session.thread, id: told.thread } }
}

/**
 * What is known before the output is read: all that was said up to a death seen here is then read as well. Once a shim is
 * known to be dead a second look decides, for it may have written its record after the first.
 */
function lookAt(ref: AttemptRef, work: Work): Evidence {
  const first = work.evidence(ref)
  return first.exit === null && first.shim === 'dead' ? work.evidence(ref) : first
}

function isOver({ exit, shim, process }: Evidence): boolean {
  return exit !== null || (shim === 'dead' && process === 'dead')
}

/** By a clock that nobody sets, or by all that is on disk: supervisors may come and go meanwhile. */
function isLate({ since }: { since: Instant }, { openedAt }: Evidence, now: Instant, awaited: Duration): boolean {
  if (openedAt === null) return false
  const from = since > now ? openedAt : Math.max(since, openedAt) // What is yet to come is of a clock that was set back.
  return awaited > LAUNCH_PATIENCE || now - from > LAUNCH_PATIENCE
}

type Death =
  | Pick<Extract<Signal, { type: 'process.died' }>, 'type' | 'exit' | 'seenAt' | 'isAlone' | 'memory'>
  | Pick<Extract<Signal, { type: 'launch.failed' }>, 'type' | 'reason'>

function deathIn(evidence: Evidence, isOverdue: boolean): Death | null {
  if (evidence.exit !== null) {
    const { exit, isAlone, memory } = evidence
    return { type: 'process.died', exit, isAlone, ...(memory !== null && { memory }) }
  }
  if (evidence.refusal !== null) return { type: 'launch.failed', reason: evidence.refusal }
  if (!evidence.isClaimed && evidence.openedAt !== null && isOverdue)
    return { type: 'launch.failed', reason: 'its pane never started' }
  if (evidence.shim !== 'dead') return null
  if (evidence.life === null) return { type: 'launch.failed', reason: 'its shim died before the program was started' }
  if (evidence.process !== 'dead') return null
  return {
    type: 'process.died',
    exit: { kind: 'vanished', evidence: `pid ${evidence.life.pid} and its shim are gone` },
  }
}

/** What its end means where its words alone do not tell. */
function explain(session: Session, exit: Exit, { work, agent }: { work: Work; agent: Agent }, at: Instant): Signal[] {
  const word = agent.explain?.({
    exit,
    word: session.lastWord,
    stderr: work.complaints(attemptRef(session)),
    memory: session.bookmark.memory,
    env: work.environment(session.spec.id),
  })
  return word ? [{ at, type: 'agent.finished', attempt: session.attempt, word }] : []
}

/** Power may have failed before what the shim wrote was on disk, but after we had recorded it. */
function withoutTrace({ life }: Session, evidence: Evidence, work: Work): Death | null {
  const isLost = life !== null && evidence.life === null && evidence.shim !== 'alive' && !work.isAlive(life)
  return isLost ? { type: 'process.died', exit: { kind: 'vanished', evidence: `pid ${life.pid} is gone` } } : null
}

/** Whatever is gone without a record went down with its machine, if that was restarted since. */
function withTheMachine(session: Session, death: Death, { work }: { work: Work }): Death {
  const ref = attemptRef(session)
  const boot = session.life?.boot ?? work.evidence(ref).life?.boot ?? work.boot
  const isReboot = death.type === 'process.died' && death.exit.kind === 'vanished' && boot !== work.boot
  if (!isReboot) return death
  const seenAt = work.seenAt(ref)
  const exit = { kind: 'vanished', evidence: 'the machine was restarted', isReboot } as const
  return { type: 'process.died', exit, ...(seenAt !== null && { seenAt }) }
}

interface Speech {
  readonly observations: readonly Observation[]
  readonly text: string
  readonly output: number
  readonly memory: Memory
  readonly hasMore: boolean
  /** What was left out of it, if anything was. */
  readonly note: string | null
}

function silence(session: Session): Speech {
  const { output, memory } = session.bookmark
  return { observations: [], text: '', output, memory, hasMore: false, note: null }
}

/** Reads whole lines from where we left off. A last line without an end counts once the program can write no more. */
function listen(
  session: Session,
  work: Work,
  read: NonNullable<Agent['read']>,
  { hasEnded, unfinished }: { hasEnded: boolean; unfinished: UnfinishedLines },
): Speech {
  const from = session.bookmark.output
  if (!hasEnded && unfinished.isUnfinished(attemptRef(session), from, work, LONGEST_LINE)) return silence(session)
  let bytes = work.read(attemptRef(session), from, CHUNK)
  let { lines, length } = completeLines(bytes)
  for (let size = CHUNK * 2; length === 0 && bytes.length === size / 2 && size <= LONGEST_LINE; size *= 2) {
    bytes = work.read(attemptRef(session), from, size)
    ;({ lines, length } = completeLines(bytes))
  }
  if (length === 0 && bytes.length > 0 && (hasEnded || bytes.length >= LONGEST_LINE)) {
    lines = [new TextDecoder().decode(bytes)]
    length = bytes.length
  }
  if (length === 0 && bytes.length > 0) unfinished.note(attemptRef(session), from, from + bytes.length)
  else unfinished.forget(session.spec.id)
  const { memory } = session.bookmark
  const mayTakeLong = lines.some(line => line.length > LONG_LINE)
  const heard = mayTakeLong
    ? work.whileReading(attemptRef(session), from, isStuck => hear(lines, memory, read, isStuck))
    : hear(lines, memory, read, false)
  return { ...heard, output: from + length, hasMore: length > 0 }
}

/** Where a supervisor was stuck before, long lines are left out: one of them was the reason. */
function hear(
  lines: readonly string[],
  before: Memory,
  read: NonNullable<Agent['read']>,
  isStuck: boolean,
): Pick<Speech, 'observations' | 'text' | 'memory' | 'note'> {
  let memory = before
  let leftOut = 0
  const heard: Reading[] = []
  for (const line of lines) {
    if (isStuck && line.length > LONG_LINE) leftOut += line.length
    if ((isStuck && line.length > LONG_LINE) || line.trim() === '') continue
    const reading = understand(line, memory, read)
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
function understand(line: string, memory: Memory, read: NonNullable<Agent['read']>): Reading {
  try {
    return read(line, memory)
  } catch {
    return { observations: [], text: `${endsOf(line)}\n` }
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
