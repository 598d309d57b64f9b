import type { Duration, Instant } from '../lib/time.ts'

/** Whether the program runs on a terminal of its own or writes straight into files. */
export type Mode = 'headless' | 'tty'

/**
 * What proves that the work is done. `exit-code`: the program's exit status is its answer (any command).
 * `end-event`: the agent must also have said that its turn ended well, because agents exit 0 on failures.
 */
export type Proof = 'exit-code' | 'end-event'

/** How often and how fast a dead attempt is followed by another. */
export interface RestartPolicy {
  readonly limit: number
  readonly window: Duration
  readonly firstDelay: Duration
  readonly nextDelay: Duration
  readonly maxDelay: Duration
}

/** What was asked for. It never changes. Prompt and environment lie beside it in the session's folder. */
export interface Spec {
  readonly id: string
  /** The tmux session's name: `<agent>-<task>`. */
  readonly name: string
  readonly task: string
  readonly agent: string
  readonly mode: Mode
  readonly proof: Proof
  readonly cwd: string
  /** Of whoever asked for it: what the work makes is as open or closed as if it had been run there. */
  readonly umask?: number
  /** The program as an absolute path, then its own arguments. The agent's adapter adds the rest. */
  readonly argv: readonly string[]
  /** The prompt's first line or the command, for people to recognise the session by. */
  readonly title: string
  readonly maxTime: Duration | null
  readonly restart: RestartPolicy
  readonly createdAt: Instant
}

/** The process of an attempt, told apart from any other that may get the same pid later. */
export interface Life {
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
  | { readonly kind: 'vanished'; readonly evidence: string }

/** The agent's own word on how its turn ended. */
export interface LastWord {
  readonly ok: boolean
  readonly text: string
}

export type Outcome = 'done' | 'failed' | 'stopped' | 'gave-up'

/** What follows once nothing of an attempt is left. */
export type Aftermath =
  | { readonly kind: 'end'; readonly outcome: Outcome; readonly reason: string }
  | { readonly kind: 'rest'; readonly until: Instant; readonly reason: string }

export type StopStep = 'interrupt' | 'terminate' | 'kill' | 'sweep'

export type Phase =
  | { readonly name: 'starting'; readonly since: Instant }
  | { readonly name: 'running'; readonly since: Instant }
  | { readonly name: 'resting'; readonly until: Instant; readonly reason: string }
  | { readonly name: 'blocked'; readonly since: Instant; readonly question: string }
  | { readonly name: 'stopping'; readonly step: StopStep; readonly due: Instant; readonly next: Aftermath }
  | { readonly name: 'ended'; readonly at: Instant; readonly outcome: Outcome; readonly reason: string }

export type PhaseName = Phase['name']

/** How far the current attempt's output was read, and how long the transcript was made of it. */
export interface Bookmark {
  readonly output: number
  readonly transcript: number
}

export interface Session {
  readonly spec: Spec
  readonly phase: Phase
  /** What the user wants, kept apart from what is. */
  readonly wanted: 'run' | 'stop'
  /** Attempts so far; the current one has this number. */
  readonly attempt: number
  readonly restarts: readonly Instant[]
  readonly thread: string | null
  readonly life: Life | null
  readonly exit: Exit | null
  readonly lastWord: LastWord | null
  readonly startedAt: Instant | null
  readonly bookmark: Bookmark
}

export type In<P extends PhaseName> = Session & { readonly phase: Extract<Phase, { name: P }> }

/** When the session's next alarm rings, if it has one. */
export function dueOf(session: Session): Instant | null {
  const { phase } = session
  if (phase.name === 'ended') return null
  if (phase.name === 'stopping') return phase.due
  const deadline = deadlineOf(session)
  if (phase.name === 'resting') return deadline === null ? phase.until : Math.min(phase.until, deadline)
  return deadline
}

export function deadlineOf(session: Session): Instant | null {
  const { createdAt, maxTime } = session.spec
  return maxTime === null ? null : createdAt + maxTime
}
