import type { Instant } from '../lib/time.ts'
import type { Session } from './session.ts'
import { type Step, step } from './step.ts'

/** Opens the next attempt. Also how a session begins. */
export function launch(session: Session, at: Instant): Step {
  const attempt = session.attempt + 1
  const fresh: Session = {
    ...session,
    attempt,
    life: null,
    exit: null,
    lastWord: null,
    bookmark: { ...session.bookmark, output: 0 },
    phase: { name: 'starting', since: at },
  }
  const resume = session.thread
  return step(
    fresh,
    [{ at, type: 'attempt.launched', attempt, resume: resume !== null }],
    [{ type: 'launch', attempt, resume }],
  )
}
