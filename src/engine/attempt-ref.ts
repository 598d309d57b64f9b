import type { Session } from '../core/session.ts'
import type { AttemptRef } from '../ports/work.ts'

/** The current attempt of a session; or the one an effect was decided for. */
export function attemptRef(session: Session, attempt: number = session.attempt): AttemptRef {
  return { sessionId: session.spec.id, name: session.spec.name, attempt, mode: session.spec.mode }
}
