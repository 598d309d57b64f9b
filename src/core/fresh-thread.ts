import type { Instant } from '../lib/time.ts'
import type { Thread } from './conversation.ts'
import type { Session } from './session.ts'
import { NOTHING_SPENT } from './spending.ts'

/** The session with another thread from its next attempt on, which is told what was done in those before it. */
export function withFreshThread(session: Session, at: Instant): Session {
  const { number } = session.thread
  const from = session.attempt + 1
  const thread: Thread = { id: null, number: number + 1, since: at, from, heard: 0, needsDigest: true, losses: 0 }
  return { ...session, thread, spending: { ...session.spending, thread: NOTHING_SPENT } }
}
