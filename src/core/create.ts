import { NOTHING_SAVED } from './checkpoint.ts'
import { launch } from './launch.ts'
import type { Message } from './conversation.ts'
import type { Session, Spec } from './session.ts'
import { NOTHING_SPENT } from './spending.ts'
import { type Step, step } from './step.ts'
import type { Task } from './task.ts'

/** What a session begins with beside its spec: whether it was given a prompt, and the thread it goes on with. */
export interface Beginning {
  readonly hasPrompt: boolean
  /** A conversation that was there before, with as many messages in its record. */
  readonly thread?: { readonly id: string; readonly heard: number }
  readonly heritage?: Heritage
}

/** What is known of work that was begun elsewhere and is gone on with here. */
export interface Heritage {
  /** What it was asked for there, all of which was read, the prompt first: a line each. */
  readonly messages: readonly string[]
  readonly tasks: readonly Task[]
  /** Why it does not go on where it was. */
  readonly reason: string
  /** How long the transcript is that was laid down for it. */
  readonly transcript: number
}

/** A session's first step: it exists, and its first attempt is to be launched. */
export function create(spec: Spec, { hasPrompt, thread, heritage }: Beginning): Step {
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
  const first = launch(heritage === undefined ? newborn : inherit(newborn, heritage), at)
  return step(first.session, [{ at, type: 'session.created' }, ...first.events], first.effects)
}

function inherit(newborn: Session, { messages, tasks, reason, transcript }: Heritage): Session {
  const { createdAt: at } = newborn.spec
  return {
    ...newborn,
    messages: messages.map((gist, index) => ({
      id: index + 1,
      key: index === 0 ? 'prompt' : `inherited ${index + 1}`,
      gist,
      acceptedAt: at,
      deliveredAt: at,
      confirmedAt: at,
    })),
    tasks,
    thread: { ...newborn.thread, needsDigest: newborn.thread.id === null },
    lastWord: { ok: false, text: reason, failure: { kind: 'other', text: reason, resetAt: null, remedy: null } },
    bookmark: { ...newborn.bookmark, transcript },
  }
}
