import type { Instant } from '../../lib/time.ts'
import type { CheckpointStatus } from '../checkpoint/checkpoint.ts'
import type { TurnInput, Message, Thread } from './conversation.ts'
import type { Failure, ProblemKind } from './failure.ts'
import type { Supervision } from './supervision.ts'
import type { UsageLedger } from './usage.ts'
import type { Task } from './task.ts'

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
export interface Spec extends Supervision {
  readonly id: string
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
  /** The terminal of the request, for the bell. */
  readonly tty?: string
  /** The parent session, which this session does not outlive; `key` is the parent's own name for it. */
  readonly parent?: { readonly id: string; readonly key: string }
  /** The session whose program requested this one. This session may outlive it. */
  readonly startedBy?: string
  readonly createdAt: Instant
}

/** Identifies the process of an attempt, even if another process gets the same pid later. */
export interface ProcessIdentity {
  readonly pid: number
  /** The kernel's start time of that pid, opaque: an equal value means the same process. */
  readonly birth: string
  readonly boot: string
  readonly startedAt: Instant
}

export type Exit =
  | { readonly kind: 'code'; readonly code: number }
  | { readonly kind: 'signal'; readonly signal: string }
  /** The process left no exit record: somebody killed the process, or the machine went down. */
  | { readonly kind: 'vanished'; readonly evidence: string; readonly isReboot?: boolean }

/** The actions that the agent may take without asking: everything, file edits, or nothing. */
export type Autonomy = 'full' | 'edits' | 'ask'

/** The agent's own report on how its turn ended. */
export type TurnResult =
  /** `isVerdict`: the text itself is the sentence that says how the work ended, with the evidence. */
  | { readonly ok: true; readonly text: string; readonly isVerdict?: true }
  | { readonly ok: false; readonly text: string; readonly failure: Failure }

export type Outcome = 'done' | 'failed' | 'stopped' | 'gave-up'

/** The present activity of the current attempt. */
export interface Activity {
  readonly tools: readonly {
    readonly id: string
    readonly tool: string
    readonly gist: string
    readonly since: Instant
  }[]
  readonly editedAt: Instant | null
  /** The failure after which the agent's program itself tries again. */
  readonly retrying: Failure | null
}

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

/** `prove`: no process is left, and the verifier inspects the work before oneshot decides how it ended. */
export type StopStep = 'interrupt' | 'terminate' | 'kill' | 'sweep' | 'prove'

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
  /** The session waits for a person. `isIdle`: no process is alive, as without a login. */
  | {
      readonly name: 'blocked'
      readonly since: Instant
      readonly question: string
      readonly trouble: ProblemKind
      readonly isIdle: boolean
    }
  | { readonly name: 'stopping'; readonly step: StopStep; readonly due: Instant; readonly next: NextStep }
  | {
      readonly name: 'ended'
      readonly at: Instant
      readonly outcome: Outcome
      readonly reason: string
      readonly trouble: ProblemKind | null
    }

export type PhaseName = Phase['name']

/** The state that a parser carries from one line to the next. */
export type ParserState = Readonly<Record<string, string | number | boolean | null | readonly string[]>>

/**
 * The read position in the current attempt's output, the parser's state there, and the length of the transcript so far.
 */
export interface ReadPosition {
  readonly output: number
  readonly transcript: number
  readonly memory: ParserState
}

export interface Session {
  readonly spec: Spec
  readonly phase: Phase
  /** The state that the user wants, apart from the actual state. */
  readonly wanted: 'run' | 'stop'
  /** The name of the session that asked for the stop; absent if the user did, or nobody. */
  readonly stoppedBy?: string
  /** The number of attempts so far, which is the number of the current one. */
  readonly attempt: number
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
  /** The input of the current attempt. Null for a command. */
  readonly errand: TurnInput | null
  /** True if the turn of the last input ended. */
  readonly isTurnOver: boolean
  readonly activity: Activity
  readonly spending: UsageLedger
  readonly saved: CheckpointStatus
  /** The tasks of its work, in the order in which somebody named them. */
  readonly tasks: readonly Task[]
  /** Problems beside the work that oneshot has already reported. */
  readonly notes: readonly string[]
  /** Kinds of output that its adapter did not recognise. */
  readonly unknown: readonly string[]
  readonly life: ProcessIdentity | null
  readonly exit: Exit | null
  readonly lastWord: TurnResult | null
  readonly startedAt: Instant | null
  /** The start of the session's time limit: its acceptance, or its last resume. */
  readonly clockSince: Instant
  readonly bookmark: ReadPosition
}

export type SessionIn<P extends PhaseName> = Session & { readonly phase: Extract<Phase, { name: P }> }

/** Returns the time of the session's next alarm, or null. */
export function sessionDueAt(session: Session): Instant | null {
  const { phase } = session
  if (phase.name === 'ended') return null
  if (phase.name === 'stopping') return phase.step === 'prove' ? null : phase.due
  const deadline = sessionDeadline(session)
  if (phase.name === 'resting') return deadline === null ? phase.until : Math.min(phase.until, deadline)
  return deadline
}

/**
 * Returns the time at which the session's time limit ends. A wait for a usage limit moves it, because the session does
 * not work then. A session that waits for a person has none.
 */
export function sessionDeadline({ spec, phase, clockSince }: Session): Instant | null {
  if (spec.maxTime === null || phase.name === 'blocked') return null
  const waited = phase.name === 'resting' && phase.cause === 'limit' ? phase.until - phase.since : 0
  return clockSince + waited + spec.maxTime
}

/** Returns the session with the wait that ends now taken out of its working time. */
export function excludeWaitingTime<S extends Session>(session: S, now: Instant): S {
  const { phase, clockSince } = session
  const hasWaited = phase.name === 'blocked' || (phase.name === 'resting' && phase.cause === 'limit')
  return hasWaited ? { ...session, clockSince: clockSince + now - phase.since } : session
}

/** Returns true if no process of the session is alive although it has not ended: it rests, or waits for a person. */
export function isIdle({ phase }: Session): boolean {
  return phase.name === 'resting' || (phase.name === 'blocked' && phase.isIdle)
}
