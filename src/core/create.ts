import { NOTHING_SAVED } from './checkpoint.ts'
import { launch } from './launch.ts'
import type { Message } from './conversation.ts'
import type { Session, Spec } from './session.ts'
import { NOTHING_SPENT } from './spending.ts'
import { type Step, step } from './step.ts'

/** What a session begins with beside its spec: whether it was given a prompt, and the thread it goes on with. */
export interface Beginning {
  readonly hasPrompt: boolean
  /** A conversation that was there before, with as many messages in its record. */
  readonly thread?: { readonly id: string; readonly heard: number }
}

/** A session's first step: it exists, and its first attempt is to be launched. */
export function create(spec: Spec, { hasPrompt, thread }: Beginning): Step {
  const at = spec.createdAt
  const prompt: Message = {
    id: 1,
    key: 'prompt',
    gist: spec.title,
    acceptedAt: at,
    deliveredAt: null,
    confirmedAt: null,
  }
  const newborn: Session = {
    spec,
    phase: { name: 'starting', since: at },
    wanted: 'run',
    attempt: 0,
    restarts: [],
    restartCount: 0,
    forgivenAt: 0,
    alertedAt: null,
    outages: 0,
    limitedSince: null,
    thread: { id: null, number: 1, since: at, from: 1, heard: 0, needsDigest: false, losses: 0, ...thread },
    messages: hasPrompt ? [prompt] : [],
    errand: null,
    isTurnOver: true,
    activity: { tools: [], editedAt: null, retrying: null },
    spending: {
      before: NOTHING_SPENT,
      attempt: NOTHING_SPENT,
      thread: NOTHING_SPENT,
      threadBefore: NOTHING_SPENT,
      waived: NOTHING_SPENT,
    },
    saved: NOTHING_SAVED,
    tasks: [],
    notes: [],
    unknown: [],
    life: null,
    exit: null,
    lastWord: null,
    startedAt: null,
    clockSince: at,
    bookmark: { output: 0, transcript: 0, memory: {} },
  }
  const first = launch(newborn, at)
  return step(first.session, [{ at, type: 'session.created' }, ...first.events], first.effects)
}
