import { refusal } from '../api/contract/problems.ts'
import type { Session, Spec } from '../core/session.ts'

/** The session that was started by another under this name already. Refuses when nobody is there to start one. */
export function childOf(parent: NonNullable<Spec['parent']>, sessions: readonly Session[]): Session | undefined {
  const { id, key } = parent
  const holder = sessions.find(({ spec }) => spec.id === id)
  if (holder === undefined) throw refusal('no-session', `there is no session ${id} to start another one`)
  const twin = sessions.find(({ spec }) => spec.parent?.id === id && spec.parent.key === key)
  if (twin === undefined && (holder.phase.name === 'ended' || holder.wanted === 'stop'))
    throw refusal('session-ended', `${holder.spec.name} has ended, and starts no others`)
  return twin
}
