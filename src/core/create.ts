import { launch } from './launch.ts'
import type { Session, Spec } from './session.ts'
import type { Step } from './step.ts'

/** A session's first step: it exists, and its first attempt is to be launched. */
export function create(spec: Spec): Step {
  const newborn: Session = {
    spec,
    phase: { name: 'starting', since: spec.createdAt },
    wanted: 'run',
    attempt: 0,
    restarts: [],
    thread: null,
    life: null,
    exit: null,
    lastWord: null,
    startedAt: null,
    bookmark: { output: 0, transcript: 0 },
  }
  const first = launch(newborn, spec.createdAt)
  return { ...first, events: [{ at: spec.createdAt, type: 'session.created' }, ...first.events] }
}
