import type { Duration, Instant } from '../../lib/time.ts'
import type { CheckpointStatus, CheckpointOptions } from '../checkpoint/checkpoint.ts'
import type { TurnInput, Message, Thread } from './conversation.ts'
import type { Failure, ProblemKind } from './failure.ts'
import type { UsageLedger, UsageLimits } from './usage.ts'
import type { Task } from './task.ts'

/** Whether the program runs on a terminal of its own or writes straight into files. */
export type Mode = 'headless' | 'tty'

/**
 * What proves that the work is done. `exit-code`: the program's exit status is its answer (any command).
 * `end-event`: the agent must also have said that its turn ended well, because agents exit 0 on failures.
 */
export type SuccessCriterion = 'exit-code' | 'end-event'

/** How often and how fast a dead attempt is followed by another. */
export interface RestartPolicy {
  /** What is followed by another attempt: what died before its work was over, or a command that failed as well. */
  readonly on: 'crash' | 'failure'
  readonly limit: number
  readonly window: Duration
  readonly firstDelay: Duration
  readonly nextDelay: Duration
  readonly maxDelay: Duration
}

/** How long is waited in each of the ways in which a session can stand still. */
export interface WaitLimits {
  /** Without a sign of life until it counts as hung; null for ever. */
  readonly silence: Duration | null
  /** For a usage limit to be over; 0 not at all, null for ever. */
  readonly limit: Duration | null
  /** What was at work or due longer ago than this when somebody comes back to it is not gone on with unasked; null always is. */
  readonly absence: Duration | null
}

export interface VerifyOptions {
  /** That git shows work, and its output no failure. */
  readonly git: boolean
  /** That this line for a shell passes; null for none. */
  readonly check: string | null
}

/** What was asked for. It never changes. Prompt and environment lie beside it in the session's folder. */
export interface Spec {
  readonly id: string
  /** The tmux session's name: `<agent>-<task>`. */
  readonly name: string
  readonly task: string
  /** The name that its user gave it later. Panes, refs and folders keep the first one. */
  readonly label?: string
  readonly agent: string
  readonly mode: Mode
  readonly proof: SuccessCriterion
  readonly cwd: string
  /** Of whoever asked for it: what the work makes is as open or closed as if it had been run there. */
  readonly umask?: number
  /** The program as an absolute path, then its own arguments. The agent's adapter adds the rest. */
  readonly argv: readonly string[]
  /** The prompt's first line or the command, for people to recognise the session by. */
  readonly title: string
  readonly autonomy: Autonomy
  readonly model: string | null
  readonly effort: string | null
  readonly limits: UsageLimits
  readonly maxTime: Duration | null
  readonly restart: RestartPolicy
  readonly patience: WaitLimits
  /** Bytes that its processes may use together; null for no limit. */
  readonly memory: number | null
  /** Bytes that all its attempts may write together; null or absent for no limit. */
  readonly maxOutput?: number | null
  readonly saving: CheckpointOptions
  /** Its owner is told when it was restarted more often than this within an hour. */
  readonly alertAfter: number
  /** What must be shown before its work is called done, beyond its good end. */
  readonly verify?: VerifyOptions
  /** The program to run whenever it has ended, as an absolute path, and its arguments. */
  readonly onExit?: readonly string[]
  /** The terminal it was asked for on, for a bell. */
  readonly tty?: string
  /** The session that has started it, which it does not outlive; `key` is that one's own name for it. */
  readonly parent?: { readonly id: string; readonly key: string }
  /** The session that a program of which has asked for it; it may outlive that one. */
  readonly startedBy?: string
  /** Its project is to be left without files about it. */
  readonly projectFiles?: false
  /** Its user agrees that the project's task tracker is run: that runs hooks of the project. */
  readonly beads?: true
  readonly createdAt: Instant
}

/** The process of an attempt, told apart from any other that may get the same pid later. */
export interface ProcessIdentity {
  readonly pid: number
  /** The kernel's start time of that pid, opaque: equal means the same process. */
  readonly birth: string
  readonly boot: string
  readonly startedAt: Instant
}

export type Exit =
  | { readonly kind: 'code'; readonly code: number }
  | { readonly kind: 'signal'; readonly signal: string }
  /** Gone without an exit record: the process or the machine was killed under us. */
  | { readonly kind: 'vanished'; readonly evidence: string; readonly isReboot?: boolean }

/** How much the agent may do without asking: everything, edit files, or nothing. */
export type Autonomy = 'full' | 'edits' | 'ask'

/** The agent's own word on how its turn ended. */
export type TurnResult =
  /** `isVerdict`: it is itself the sentence that says how the work has ended, with the evidence. */
  | { readonly ok: true; readonly text: string; readonly isVerdict?: true }
  | { readonly ok: false; readonly text: string; readonly failure: Failure }

export type Outcome = 'done' | 'failed' | 'stopped' | 'gave-up'

/** What the current attempt is at. */
export interface Activity {
  readonly tools: readonly {
    readonly id: string
    readonly tool: string
    readonly gist: string
    readonly since: Instant
  }[]
  readonly editedAt: Instant | null
  /** The agent's program itself tries again after this. */
  readonly retrying: Failure | null
}

/** What follows once nothing of an attempt is left. */
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
 * A crash counts against the restart limit; an outage elsewhere and a reboot do not. While a limit lasts, not even time
 * counts.
 */
export type RestCause = 'crash' | 'outage' | 'limit' | 'reboot'

/** `prove`: nothing of it is left, and what it has done is looked at before its end is judged. */
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
  /** It waits for a person; `isIdle`: with nothing alive, as without a login. */
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

/** What a reader keeps from one line to the next. */
export type ParserState = Readonly<Record<string, string | number | boolean | null | readonly string[]>>

/** How far the current attempt's output was read, what was kept in mind of it, and how long the transcript made of it is. */
export interface ReadPosition {
  readonly output: number
  readonly transcript: number
  readonly memory: ParserState
}

export interface Session {
  readonly spec: Spec
  readonly phase: Phase
  /** What the user wants, kept apart from what is. */
  readonly wanted: 'run' | 'stop'
  /** The name of the session that wants it stopped; absent when its user does, or nobody. */
  readonly stoppedBy?: string
  /** Attempts so far; the current one has this number. */
  readonly attempt: number
  /** After a crash, those of the last hour at least. */
  readonly restarts: readonly Instant[]
  /** All there were. */
  readonly restartCount: number
  /** Restarts before this no longer count against their limit: a turn went well, or a person asked to go on. */
  readonly forgivenAt: Instant
  /** When its owner was last told that it is restarted too often. */
  readonly alertedAt: Instant | null
  /** How often in a row it had to wait for something that is not its fault. */
  readonly outages: number
  /** When the usage limit it waits for was first met, since the model answered last. */
  readonly limitedSince: Instant | null
  readonly thread: Thread
  readonly messages: readonly Message[]
  /** What the current attempt was given. Null for a command. */
  readonly errand: TurnInput | null
  /** Whether the turn that the last errand belongs to was brought to its end. */
  readonly isTurnOver: boolean
  readonly activity: Activity
  readonly spending: UsageLedger
  readonly saved: CheckpointStatus
  /** The pieces of its work, in the order they were named. */
  readonly tasks: readonly Task[]
  /** What went wrong beside the work and was told already. */
  readonly notes: readonly string[]
  /** Kinds of output that its adapter did not know. */
  readonly unknown: readonly string[]
  readonly life: ProcessIdentity | null
  readonly exit: Exit | null
  readonly lastWord: TurnResult | null
  readonly startedAt: Instant | null
  /** Since when its time is counted: when it was accepted, or last woken. */
  readonly clockSince: Instant
  readonly bookmark: ReadPosition
}

export type SessionIn<P extends PhaseName> = Session & { readonly phase: Extract<Phase, { name: P }> }

/** When the session's next alarm rings, if it has one. */
export function sessionDueAt(session: Session): Instant | null {
  const { phase } = session
  if (phase.name === 'ended') return null
  if (phase.name === 'stopping') return phase.step === 'prove' ? null : phase.due
  const deadline = sessionDeadline(session)
  if (phase.name === 'resting') return deadline === null ? phase.until : Math.min(phase.until, deadline)
  return deadline
}

/**
 * When its time is over. A rest until a limit is over moves it: whoever waits for an hour as told has not worked for it.
 * While it waits for a person there is none.
 */
export function sessionDeadline({ spec, phase, clockSince }: Session): Instant | null {
  if (spec.maxTime === null || phase.name === 'blocked') return null
  const stoodStill = phase.name === 'resting' && phase.cause === 'limit' ? phase.until - phase.since : 0
  return clockSince + stoodStill + spec.maxTime
}

/** The session as it goes on after it stood still until now. */
export function excludeWaitingTime<S extends Session>(session: S, now: Instant): S {
  const { phase, clockSince } = session
  const hasStoodStill = phase.name === 'blocked' || (phase.name === 'resting' && phase.cause === 'limit')
  return hasStoodStill ? { ...session, clockSince: clockSince + now - phase.since } : session
}

/** Nothing of it lives, although it has not ended: it rests, or waits for a person. */
export function isIdle({ phase }: Session): boolean {
  return phase.name === 'resting' || (phase.name === 'blocked' && phase.isIdle)
}
