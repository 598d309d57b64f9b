import { instant, nullable, object, oneOf, type Parser, string } from '../../lib/codec.ts'
import type { Instant } from '../../lib/time.ts'

/**
 * The reason why a turn failed, as far as the agent's own output shows it.
 * - `rate-limit`: the agent may not ask its model for a while.
 * - `overloaded`: the model's servers are in trouble.
 * - `network`: the agent cannot reach the servers.
 * - `login`: the agent is not logged in.
 * - `context`: the conversation has grown too long.
 * - `thread-lost`: the agent cannot resume the conversation.
 * - `denied`: somebody refused a tool, so the work cannot be done.
 * - `empty`: the turn ended without any text.
 * - `budget`: the agent reached a limit of its own.
 * - `setup`: the agent refuses to work in this setup, and would refuse again.
 * - `untrusted`: the user has not told the agent to trust the folder.
 * - `unfinished`: the agent has done what it could, and work is left.
 * - `review`: somebody has to review the work before it continues.
 * - `other`: the agent reported a failure that we do not recognise.
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
 * The reason why a session does not simply continue, or did not end well: a failure of a turn, or an observation of the
 * supervisor.
 * - `crash`: the agent died.
 * - `silence`: the agent lived and did nothing.
 * - `memory`: the agent ran out of memory.
 * - `output`: the agent wrote too much.
 * - `start`: the agent could not start.
 * - `approval`: the agent asks for approval.
 * - `reboot`: the machine restarted.
 * - `absence`: no supervisor ran for so long that the session continues only on request.
 * - `folder`: the working directory is gone.
 * - `time`: the session's time limit ended.
 * - `unproven`: the session ended well, but the required evidence is missing.
 * - `held` and `stopped`: the user asked for it.
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
  /** The program's own message, in one line: the evidence. */
  readonly text: string
  /** The time at which a limit ends, if the program reports it. */
  readonly resetAt: Instant | null
  /** The one action that a person has to take, as a command if there is one. */
  readonly remedy: string | null
}

const FAILURE_KINDS = Object.keys({
  'rate-limit': true,
  overloaded: true,
  network: true,
  login: true,
  context: true,
  'thread-lost': true,
  denied: true,
  empty: true,
  budget: true,
  setup: true,
  untrusted: true,
  unfinished: true,
  review: true,
  other: true,
} satisfies Record<FailureKind, true>) as FailureKind[]

export const parseFailure: Parser<Failure> = object({
  kind: oneOf(...FAILURE_KINDS),
  text: string,
  resetAt: nullable(instant),
  remedy: nullable(string),
})
