import { NO_CHECKPOINTS } from '../checkpoint/checkpoint.ts'
import { launchAttempt } from './reactions/launch.ts'
import type { Message } from './conversation.ts'
import type { Session, Spec } from './session.ts'
import { NO_USAGE, type Usage } from './usage.ts'
import { type Decision, makeDecision } from './decision.ts'
import type { Task } from './task.ts'

/** What a session begins with beside its spec: whether it was given a prompt, and the thread it goes on with. */
export interface SessionStart {
  readonly hasPrompt: boolean
  /** A conversation that was there before, with as many messages in its record. */
  readonly thread?: { readonly id: string; readonly heard: number }
  readonly importedState?: ImportedState
}

/** What is known of work that was begun elsewhere and is gone on with here. */
export interface ImportedState {
  /** What it was asked for there, the prompt first: a line each. */
  readonly messages: readonly string[]
  /** How many of them were read, the first ones; the others are still to be delivered. */
  readonly read: number
  /** What was used up there, which counts against its limits; and what of it the conversation has. */
  readonly spent: Usage
  readonly spentInThread: Usage
  readonly tasks: readonly Task[]
  /** Why it does not go on where it was. */
  readonly reason: string
  /** How long the transcript is that was laid down for it. */
  readonly transcript: number
}

/** A session's first step: it exists, and its first attempt is to be launched. */
export function createSession(spec: Spec, { hasPrompt, thread, importedState }: SessionStart): Decision {
  const at = spec.createdAt
  const prompt: Message = {
    id: 1,
    key: 'prompt',
    gist: spec.title,
    acceptedAt: at,
    deliveredAt: null,
    confirmedAt: null,
  }
  const newSession: Session = {
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
      before: NO_USAGE,
      attempt: NO_USAGE,
      thread: NO_USAGE,
      threadBefore: NO_USAGE,
      waived: NO_USAGE,
    },
    saved: NO_CHECKPOINTS,
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
  const first = launchAttempt(
    importedState === undefined ? newSession : withImportedState(newSession, importedState),
    at,
  )
  return makeDecision(first.session, [{ at, type: 'session.created' }, ...first.events], first.effects)
}

function withImportedState(newSession: Session, importedState: ImportedState): Session {
  const { messages, read, spent, spentInThread, tasks, reason, transcript } = importedState
  const { createdAt: at } = newSession.spec
  const hasThread = newSession.thread.id !== null
  return {
    ...newSession,
    messages: messages.map((gist, index) => ({
      id: index + 1,
      key: index === 0 ? 'prompt' : `inherited ${index + 1}`,
      gist,
      acceptedAt: at,
      deliveredAt: index < read ? at : null,
      confirmedAt: index < read ? at : null,
    })),
    // The turn that was broken off goes on before what came after it is read.
    isTurnOver: read === messages.length,
    tasks,
    spending: { ...newSession.spending, before: spent, ...(hasThread && { thread: spentInThread }) },
    thread: { ...newSession.thread, needsDigest: !hasThread },
    lastWord: { ok: false, text: reason, failure: { kind: 'other', text: reason, resetAt: null, remedy: null } },
    bookmark: { ...newSession.bookmark, transcript },
  }
}
