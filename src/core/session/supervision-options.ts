import type { Duration } from '../../lib/time.ts'
import { type CheckpointOptions, DEFAULT_CHECKPOINT_OPTIONS } from '../checkpoint/checkpoint.ts'
import { NO_LIMITS, type UsageLimits } from './usage.ts'

/** Limits the number and the pace of restarts. */
export interface RestartPolicy {
  /**
   * `crash`: oneshot restarts an attempt that died before its work was over. `failure`: it also restarts a failed
   * command.
   */
  readonly on: 'crash' | 'failure'
  readonly limit: number
  readonly window: Duration
  readonly firstDelay: Duration
  readonly nextDelay: Duration
  readonly maxDelay: Duration
}

/** The longest wait in each situation in which a session does not work. */
export interface WaitLimits {
  /** The time without a sign of life after which an attempt counts as hung; null for no limit. */
  readonly silence: Duration | null
  /** The longest wait for the end of a usage limit; 0 for no wait, null for no limit. */
  readonly limit: Duration | null
  /**
   * A session that was at work, or due, longer ago than this when the supervisor returns does not continue without a
   * request of its user; null: it always continues.
   */
  readonly absence: Duration | null
}

export interface VerifyOptions {
  /** True requires that git shows work, and that the output shows no failure. */
  readonly git: boolean
  /** The shell command line that must pass; null for none. */
  readonly check: string | null
}

/**
 * The supervision of a session: limits, restarts, checkpoints and the proof of its work. A request, a session's spec
 * and the worker of a loop hold this group as `supervision`, so that a new option is declared here once.
 */
export interface Supervision {
  readonly maxTime: Duration | null
  /** The total budget of the session. */
  readonly limits: UsageLimits
  readonly restart: RestartPolicy
  readonly patience: WaitLimits
  /** The time between SIGINT and SIGTERM at a stop, in which the agent may clean up. Absent: the supervisor's own. */
  readonly stopGrace?: Duration
  /** The bytes of memory that its processes may use together; null for no limit. */
  readonly memory: number | null
  /** The bytes that all its attempts may write together; null or absent for no limit. */
  readonly maxOutput?: number | null
  readonly saving: CheckpointOptions
  /** oneshot notifies the owner after more restarts than this within an hour. */
  readonly alertAfter: number
  /** The evidence that the session needs before its work counts as done, beyond its successful end. */
  readonly verify?: VerifyOptions
  /** The program that oneshot runs at each end of the session, and its arguments. */
  readonly onExit?: readonly string[]
  /** False: oneshot writes no files about the session into its project. Absent: true. */
  readonly projectFiles?: boolean
  /** True: the user allows oneshot to run the project's task tracker, which runs hooks of the project. */
  readonly beads?: boolean
}

type PolicyName = 'limits' | 'restart' | 'patience' | 'saving'

/** The supervision that a user requests. `completeSupervision` fills the absent parts with the defaults. */
export type SupervisionRequest = Pick<Supervision, 'maxTime'> &
  Partial<Omit<Supervision, PolicyName>> & { readonly [P in PolicyName]?: Partial<Supervision[P]> }

/**
 * The first restart is immediate, because most deaths are accidents; then 2 s, doubling to 64 s; ten in ten minutes.
 */
export const DEFAULT_RESTART: RestartPolicy = {
  on: 'crash',
  limit: 10,
  window: 600_000,
  firstDelay: 0,
  nextDelay: 2_000,
  maxDelay: 64_000,
}

/**
 * A day covers every five-hour limit. A session that nobody supervised for three days asks its owner before it
 * continues.
 */
export const DEFAULT_WAIT_LIMITS: Omit<WaitLimits, 'silence'> = { limit: 86_400_000, absence: 3 * 86_400_000 }

/**
 * The largest logs of real work have some hundred MB; a program that writes without end fills a disk within minutes.
 */
const DEFAULT_MAX_OUTPUT = 1024 ** 3

/** A hung agent must not delay a stop for longer than this. */
export const MAX_STOP_GRACE: Duration = 600_000

/** oneshot notifies the owner after more restarts than this within an hour, even if the session recovers. */
export const DEFAULT_ALERT_AFTER = 3

/** Fills the absent parts of a request with the defaults. `silence` is the agent's own limit. */
export function completeSupervision(request: SupervisionRequest, silence: WaitLimits['silence']): Supervision {
  return {
    memory: null,
    maxOutput: DEFAULT_MAX_OUTPUT,
    alertAfter: DEFAULT_ALERT_AFTER,
    ...request,
    limits: { ...NO_LIMITS, ...request.limits },
    restart: { ...DEFAULT_RESTART, ...request.restart },
    patience: { ...DEFAULT_WAIT_LIMITS, silence, ...request.patience },
    saving: { ...DEFAULT_CHECKPOINT_OPTIONS, ...request.saving },
  }
}
