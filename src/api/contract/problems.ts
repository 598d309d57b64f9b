import { Refusal } from '../../lib/errors.ts'

/** All codes of refusals, each with the exit code of the command line. */
export const PROBLEMS = {
  usage: 2,
  'name-invalid': 2,
  'name-taken': 6,
  'cwd-missing': 2,
  'prompt-unreadable': 2,
  'prompt-empty': 2,
  'argument-invalid': 2,
  'program-missing': 1,
  'agent-missing': 4,
  'agent-unknown': 2,
  'config-invalid': 2,
  'no-channel': 3,
  'tmux-missing': 1,
  'tmux-too-old': 1,
  'home-unusable': 1,
  'home-unsafe': 1,
  'home-too-long': 2,
  'disk-full': 1,
  'no-session': 3,
  'session-ambiguous': 2,
  'session-ended': 3,
  'session-alive': 6,
  'session-done': 6,
  'session-running': 6,
  'no-checkpoint': 3,
  'no-repository': 3,
  'no-remote': 3,
  'cannot-save': 1,
  'cannot-restore': 6,
  'session-claimed': 6,
  'takes-no-messages': 2,
  'message-empty': 2,
  'no-task': 3,
  'no-tasks': 3,
  'too-many-tasks': 6,
  'no-loop': 3,
  'cannot-land': 6,
  'agent-objects': 2,
  'thread-missing': 3,
  'thread-busy': 6,
  'not-a-terminal': 2,
  'needs-yes': 2,
  'not-allowed': 6,
  'daemon-unreachable': 5,
  'daemon-running': 6,
  'daemon-refused': 6,
  'daemon-not-running': 3,
  'update-impossible': 1,
  'boot-impossible': 1,
  'world-failed': 1,
  bug: 1,
} as const

export type ProblemCode = keyof typeof PROBLEMS

export interface Problem {
  readonly code: ProblemCode
  readonly message: string
  readonly hint?: string
}

/** Creates a refusal with a code of the catalogue. Clients and the daemon use this; drivers know only `Refusal`. */
export function refusal(code: ProblemCode, message: string, hint?: string): Refusal {
  return new Refusal(code, message, hint)
}

export function toProblem(cause: Refusal): Problem {
  const code = isProblemCode(cause.code) ? cause.code : 'world-failed'
  return cause.hint === undefined
    ? { code, message: cause.message }
    : { code, message: cause.message, hint: cause.hint }
}

export function exitCodeOf(code: string): number {
  return isProblemCode(code) ? PROBLEMS[code] : 1
}

function isProblemCode(code: string): code is ProblemCode {
  return code in PROBLEMS
}
