import type { Session } from '../core/session.ts'
import type { Signal } from '../core/signals.ts'
import { completeLines } from '../lib/lines.ts'
import type { Instant } from '../lib/time.ts'
import type { Agent, Observation } from '../ports/agent.ts'
import type { Clock } from '../ports/clock.ts'
import type { AttemptRef, Evidence, Work } from '../ports/work.ts'
import { attemptRef } from './attempt-ref.ts'

/** At most this much output is interpreted in one step, so that one chatty agent does not hold up the others. */
const CHUNK = 1_048_576
/** A line longer than this is not worth waiting for its end. */
const LONGEST_LINE = 64 * CHUNK

/** tmux opens a pane in milliseconds; one that has not come to life after this long never will. */
const LAUNCH_PATIENCE = 20_000

/** What is new about a session's current attempt, and how far its output was read to learn it. */
export interface Observed {
  readonly signals: readonly Signal[]
  /** What people read of it. */
  readonly text: string
  readonly output: number
  /** There is more output to read before the rest can be told. */
  readonly hasMore: boolean
}

/**
 * Looks at an attempt from outside and says what is new, in the order it happened: it started, it spoke, it ended.
 * Death needs proof: an exit record, or a process that is gone together with the shim that would have written one.
 */
export function observe(session: Session, world: { work: Work; agent: Agent; clock: Clock }): Observed {
  const { work, agent, clock } = world
  const ref = attemptRef(session)
  const at = clock.now()
  const { attempt } = session
  const evidence = lookAt(ref, work)
  const speech = agent.read === undefined ? silence(session) : listen(session, work, agent.read, isOver(evidence))
  const signals: Signal[] = []
  if (evidence.life !== null && session.life === null)
    signals.push({ at, type: 'attempt.started', attempt, life: evidence.life })
  signals.push(...speech.observations.map(observation => signalFor(observation, attempt, at)))
  if (!speech.hasMore && session.exit === null) {
    const isOverdue = session.phase.name === 'starting' && at - openedAt(session.phase, evidence) > LAUNCH_PATIENCE
    const death = deathIn(evidence, isOverdue)
    if (death !== null) signals.push({ at, attempt, chance: clock.chance(), ...death })
  }
  return { signals, text: speech.text, output: speech.output, hasMore: speech.hasMore }
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

/** A supervisor may come back long after it decided to launch; patience begins when the pane is opened. */
function openedAt(phase: { since: Instant }, evidence: Evidence): Instant {
  return Math.max(phase.since, evidence.openedAt ?? phase.since)
}

type Death =
  | Pick<Extract<Signal, { type: 'process.died' }>, 'type' | 'exit'>
  | Pick<Extract<Signal, { type: 'launch.failed' }>, 'type' | 'reason'>

function deathIn(evidence: Evidence, isOverdue: boolean): Death | null {
  if (evidence.exit !== null) return { type: 'process.died', exit: evidence.exit }
  if (evidence.isRefused) return { type: 'launch.failed', reason: 'something of the attempt before is still alive' }
  if (!evidence.isClaimed && isOverdue) return { type: 'launch.failed', reason: 'its pane never came to life' }
  if (evidence.shim !== 'dead') return null
  if (evidence.life === null) return { type: 'launch.failed', reason: 'its shim died before the program was started' }
  if (evidence.process !== 'dead') return null
  return {
    type: 'process.died',
    exit: { kind: 'vanished', evidence: `pid ${evidence.life.pid} and its shim are gone` },
  }
}

interface Speech {
  readonly observations: readonly Observation[]
  readonly text: string
  readonly output: number
  readonly hasMore: boolean
}

function silence(session: Session): Speech {
  return { observations: [], text: '', output: session.bookmark.output, hasMore: false }
}

/** Reads whole lines from where we left off. A last line without an end counts once the program can write no more. */
function listen(session: Session, work: Work, read: NonNullable<Agent['read']>, hasEnded: boolean): Speech {
  const from = session.bookmark.output
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
  const heard = lines.filter(line => line.trim() !== '').map(line => understand(line, read))
  return {
    observations: heard.flatMap(item => item.observations),
    text: heard.map(item => item.text ?? '').join(''),
    output: from + length,
    hasMore: length > 0,
  }
}

/** A line that its agent's reader stumbles over is shown as it is: nobody must stay stuck on it. */
function understand(line: string, read: NonNullable<Agent['read']>): ReturnType<typeof read> {
  try {
    return read(line)
  } catch {
    return { observations: [], text: `${line}\n` }
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
  }
}
