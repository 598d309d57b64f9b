import { refusal } from '../../api/contract/problems.ts'
import type { Session, Spec } from '../../core/session/session.ts'
import { which } from '../../os/which.ts'

/**
 * Returns the child session with this key, if it exists. Refuses when the parent is missing or may start no more
 * sessions.
 */
export function findChildSession(
  parent: NonNullable<Spec['parent']>,
  sessions: readonly Session[],
): Session | undefined {
  const { id, key } = parent
  const parentSession = sessions.find(({ spec }) => spec.id === id)
  if (parentSession === undefined) throw refusal('no-session', `there is no session ${id} to start another one`)
  const existing = sessions.find(({ spec }) => spec.parent?.id === id && spec.parent.key === key)
  if (existing === undefined && (parentSession.phase.name === 'ended' || parentSession.wanted === 'stop'))
    throw refusal('session-ended', `${parentSession.spec.name} has ended, and starts no others`)
  return existing
}

/** Programs that the supervisor itself runs. */
const REQUIRED_PROGRAMS = ['tmux', 'git'] as const

/**
 * Adds the caller's PATH to the supervisor's own if that lacks a required program. The supervisor keeps the PATH of its
 * start, and the user may have installed the program since or elsewhere.
 */
export function extendSearchPath(callerPath: string | undefined, env: NodeJS.ProcessEnv): void {
  if (callerPath === undefined || callerPath === env['PATH']) return
  const isOnlyOnCallerPath = (program: string): boolean =>
    which(program, env, '/') === undefined && which(program, { PATH: callerPath }, '/') !== undefined
  if (REQUIRED_PROGRAMS.some(isOnlyOnCallerPath)) env['PATH'] = [env['PATH'], callerPath].filter(Boolean).join(':')
}
