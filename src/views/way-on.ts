import { LOOP_KINDS } from '../api/contract/agent-kinds.ts'
import type { SessionView } from '../api/contract/session-view.ts'

/** Whether it has others work for it. */
export function isLoop({ agent }: SessionView): boolean {
  return LOOP_KINDS.includes(agent)
}

/** Whether it has an agent that reads. */
export function takesMessages(session: SessionView): boolean {
  return session.agent !== 'command' && !isLoop(session)
}

/** Whether `resume` can take it up: nothing of it lives, and something is left to do. */
export function isResumable(session: SessionView): boolean {
  const { phase, pid, outcome, messages } = session
  if (phase === 'resting') return true
  if (phase === 'blocked') return pid === null
  if (phase !== 'ended' || session.agent === 'command') return false
  return outcome !== 'done' || messages.confirmed < messages.accepted
}

/** The one command that makes it go on; null where there is none, or none is needed. */
export function wayOn(session: SessionView): string | null {
  const moved = session.reason?.includes(`its folder ${session.cwd} is gone`) ? ' --cwd DIR' : ''
  if (isResumable(session)) return `oneshot resume ${session.name}${moved}`
  return session.phase === 'blocked' && session.mode === 'tty' ? `oneshot attach ${session.name}` : null
}

/** What a person can do for a session that waits for them. */
export function waysToAnswer(session: SessionView): string {
  const { name } = session
  const way = wayOn(session)
  if (way !== null) return `continue with: ${way}`
  return `a headless session cannot receive an answer: oneshot stop ${name}, and run it again with --tty`
}
