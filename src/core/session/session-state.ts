import type { Instant } from '../../lib/time.ts'
import type { CheckpointStatus } from '../checkpoint/checkpoint.ts'
import type { Attempt } from './attempt.ts'
import type { Message, Thread } from './conversation.ts'
import type { ProblemKind } from './failure.ts'
import type { SessionId } from './session-id-and-name.ts'
import type { Supervision } from './supervision-options.ts'
import type { UsageLedger } from './usage.ts'
import type { Task } from './tasks-and-tracker-issues.ts'

/** `tty`: the program runs on a terminal of its own. `headless`: it writes straight into files. */
export type Mode = 'headless' | 'tty'

/**
 * The proof that the work is done. `exit-code`: the program's exit status decides (any command). `end-event`: the agent
 * must also have reported a successful turn, because agents exit 0 on failures.
 */
export type SuccessCriterion = 'exit-code' | 'end-event'

/**
 * The user's request. Apart from `label` and `cwd` it never changes. The session's folder holds its prompt and
 * environment.
 */
export interface Spec {
  readonly id: SessionId
  /** The tmux session's name: `<agent>-<task>`. */
  readonly name: string
  readonly task: string
  /** The name that the user gave the session later. Panes, refs and folders keep the first one. */
  readonly label?: string
  readonly agent: string
  readonly mode: Mode
  readonly proof: SuccessCriterion
  readonly cwd: string
  /** The umask of the caller: new files get the same permissions as in the caller's own shell. */
  readonly umask?: number
  /** The absolute path of the program, then its own arguments. The agent's adapter adds the rest. */
  readonly argv: readonly string[]
  /** The prompt's first line or the command, by which people recognise the session. */
  readonly title: string
  readonly autonomy: Autonomy
  readonly model: string | null
  readonly effort: string | null
  readonly supervision: Supervision
  /** The terminal of the request, for the bell. */
  readonly tty?: string
  /** The parent session, which this session does not outlive; `key` is the parent's own name for it. */
  readonly parent?: { readonly id: SessionId; readonly key: string }
  /** The session whose program requested this one. This session may outlive it. */
  readonly startedBy?: SessionId
  readonly createdAt: Instant
}

/** The actions that the agent may take without asking: everything, file edits, or nothing. */
export type Autonomy = 'full' | 'edits' | 'ask'

export type Outcome = 'done' | 'failed' | 'stopped' | 'gave-up'

/** The step to take once no process of an attempt is left. */
export type NextStep =
  | {
      readonly kind: 'end'
      readonly outcome: Outcome
      readonly reason: string
      readonly trouble: ProblemKind | null
    }
  | {
      readonly kind: 'rest'
      readonly until: Instant
      readonly reason: string
      readonly trouble: ProblemKind
      readonly cause: RestCause
      readonly thread: 'same' | 'new'
    }
  /** The turn is over and the next message waits. */
  | { readonly kind: 'next'; readonly reason: string }
  | { readonly kind: 'block'; readonly question: string; readonly reason: string; readonly trouble: ProblemKind }

/**
 * A crash counts against the restart limit; an outage and a reboot do not. The wait for a usage limit does not even
 * count as time.
 */
export type RestCause = 'crash' | 'outage' | 'limit' | 'reboot'

export type StopStep = 'interrupt' | 'terminate' | 'kill' | 'sweep'

export type Phase =
  | { readonly name: 'starting'; readonly since: Instant }
  | { readonly name: 'running'; readonly since: Instant }
  | {
      readonly name: 'resting'
      readonly since: Instant
      readonly until: Instant
      readonly reason: string
      readonly trouble: ProblemKind
      readonly cause: RestCause
    }
  /** A live attempt waits for the answer of a person, such as an approval. */
  | {
      readonly name: 'waiting'
      readonly since: Instant
      readonly question: string
      readonly trouble: ProblemKind
    }
  /** Nothing is alive, and the session continues only after a person has acted: logged in, or resumed it. */
  | {
      readonly name: 'blocked'
      readonly since: Instant
      readonly question: string
      readonly trouble: ProblemKind
    }
  | { readonly name: 'stopping'; readonly step: StopStep; readonly due: Instant; readonly next: NextStep }
  /** No process is left, and the verifier inspects the work before oneshot decides how it ended. */
  | { readonly name: 'verifying'; readonly since: Instant; readonly next: NextStep }
  | {
      readonly name: 'ended'
      readonly at: Instant
      readonly outcome: Outcome
      readonly reason: string
      readonly trouble: ProblemKind | null
    }

export type PhaseName = Phase['name']

/** The phases that people and programs see: the JSON contract and pushed checkpoints have no other words. */
export type PublicPhase = Exclude<PhaseName, 'verifying' | 'waiting'>

/**
 * Returns the phase in the words of the JSON contract: there the verification is the last part of a stop, and every
 * session that needs a person is blocked.
 */
export function publicPhase({ name }: Phase): PublicPhase {
  return name === 'verifying' ? 'stopping' : name === 'waiting' ? 'blocked' : name
}

export interface Session {
  readonly spec: Spec
  readonly phase: Phase
  /** The state that the user wants, apart from the actual state. */
  readonly wanted: 'run' | 'stop'
  /** The name of the session that asked for the stop; absent if the user did, or nobody. */
  readonly stoppedBy?: string
  /** The current attempt, or the last one. */
  readonly attempt: Attempt
  /** Restarts after a crash, at least those of the last hour. */
  readonly restarts: readonly Instant[]
  /** The number of all restarts after a crash. */
  readonly restartCount: number
  /** Restarts before this time no longer count against the limit: a turn succeeded, or a person asked to continue. */
  readonly forgivenAt: Instant
  /** The last time at which oneshot notified the owner about too many restarts. */
  readonly alertedAt: Instant | null
  /** The number of outages in a row. Outages are not the session's fault. */
  readonly outages: number
  /** The first time at which the session met the present usage limit, since the model last answered. */
  readonly limitedSince: Instant | null
  readonly thread: Thread
  readonly messages: readonly Message[]
  readonly spending: UsageLedger
  readonly saved: CheckpointStatus
  /** The tasks of its work, in the order in which somebody named them. */
  readonly tasks: readonly Task[]
  /** Problems beside the work that oneshot has already reported. */
  readonly notes: readonly string[]
  /** Kinds of output that its adapter did not recognise. */
  readonly unknown: readonly string[]
  /** The start of the first process. */
  readonly startedAt: Instant | null
  /** The start of the session's time limit: its acceptance, or its last resume. */
  readonly clockSince: Instant
  /** The length of the transcript of all attempts, in bytes. */
  readonly transcriptLength: number
}

export type SessionIn<P extends PhaseName> = Session & { readonly phase: Extract<Phase, { name: P }> }

/** The attempt of the session is over, or oneshot ends it. The phase holds the step that follows. */
export type FinishingSession = SessionIn<'stopping' | 'verifying'>

/** Returns the time of the session's next alarm, or null. */
export function sessionDueAt(session: Session): Instant | null {
  const { phase } = session
  if (phase.name === 'ended' || phase.name === 'verifying') return null // The verifier has a limit of its own.
  if (phase.name === 'stopping') return phase.due
  const deadline = sessionDeadline(session)
  if (phase.name === 'resting') return deadline === null ? phase.until : Math.min(phase.until, deadline)
  return deadline
}

/**
 * Returns the time at which the session's time limit ends. A wait for a usage limit moves it, because the session does
 * not work then. A session that waits for a person has none.
 */
export function sessionDeadline(session: Session): Instant | null {
  const { spec, phase, clockSince } = session
  if (spec.supervision.maxTime === null || needsPerson(session)) return null
  const waited = phase.name === 'resting' && phase.cause === 'limit' ? phase.until - phase.since : 0
  return clockSince + waited + spec.supervision.maxTime
}

/** Returns the session with the wait that ends now taken out of its working time. */
export function excludeWaitingTime<S extends Session>(session: S, now: Instant): S {
  const { phase, clockSince } = session
  const isWaiting = phase.name === 'waiting' || phase.name === 'blocked'
  const hasWaited = isWaiting || (phase.name === 'resting' && phase.cause === 'limit')
  return hasWaited ? { ...session, clockSince: clockSince + now - phase.since } : session
}

/** A session without a live process that has not ended: it rests, or a person has to act first. */
export type IdleSession = SessionIn<'resting' | 'blocked'>

export function isIdle(session: Session): session is IdleSession {
  return session.phase.name === 'resting' || session.phase.name === 'blocked'
}

/** Returns true if the session continues only after a person has answered or acted. */
export function needsPerson(session: Session): session is SessionIn<'waiting' | 'blocked'> {
  return session.phase.name === 'waiting' || session.phase.name === 'blocked'
}
