import type { Instant } from '../../lib/time.ts'

/**
 * Why a turn did not succeed, as far as the agent's own words tell.
 * `rate-limit`: it may not ask its model for a while. `overloaded`: the model's servers are in trouble. `network`: they cannot
 * be reached. `login`: the program is not allowed in. `context`: the conversation has grown too long. `thread-lost`: the
 * conversation cannot be resumed. `denied`: a tool was refused, so that the work cannot have been done. `empty`: it ended
 * without a word. `budget`: a limit of its own was reached. `setup`: it refuses to work like this at all, and would again.
 * `untrusted`: its user has not told it to trust the folder. `unfinished`: it has done what it could, and something is left to do. `review`: somebody has to look at what it has made
 * before it goes on. `other`: it said that it failed, and nothing we know.
 */
export type FailureKind =
  | 'rate-limit'
  | 'overloaded'
  | 'network'
  | 'login'
  | 'context'
  | 'thread-lost'
  | 'denied'
  | 'empty'
  | 'budget'
  | 'setup'
  | 'untrusted'
  | 'unfinished'
  | 'review'
  | 'other'

/**
 * Why a session does not simply go on, or did not end well: one of the above, or what its supervisor saw. `crash`: it died.
 * `silence`: it lived and did nothing. `memory`: it was out of memory. `output`: it wrote too much. `start`: it could not be started. `approval`: it asks.
 * `reboot`: the machine was restarted. `absence`: nobody was there for so long that it is not gone on with unasked. `folder`:
 * its working directory is gone. `time`: its time was over. `unproven`: it ended well, but what was to be shown is not there. `held` and `stopped`: its user wanted it so.
 */
export type ProblemKind =
  | FailureKind
  | 'crash'
  | 'silence'
  | 'memory'
  | 'output'
  | 'start'
  | 'approval'
  | 'reboot'
  | 'absence'
  | 'folder'
  | 'time'
  | 'unproven'
  | 'held'
  | 'stopped'

export interface Failure {
  readonly kind: FailureKind
  /** What the program said, in one line: the evidence. */
  readonly text: string
  /** When a limit ends, where the program says so. */
  readonly resetAt: Instant | null
  /** The one thing a person has to do about it, as a command where there is one. */
  readonly remedy: string | null
}
