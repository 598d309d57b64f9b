import { NO_CHECKPOINTS } from '../checkpoint/checkpoint.ts'
import { launchAttempt } from './reactions/attempt-start-and-turn.ts'
import { newAttempt } from './attempt.ts'
import type { Message, ThreadId } from './conversation.ts'
import type { Session, Spec } from './session-state.ts'
import { NO_USAGE, type Usage } from './usage.ts'
import { type Decision, makeDecision } from './decision.ts'
import type { Task } from './tasks-and-tracker-issues.ts'

/** The start of a session beside its spec: a prompt or none, and the thread to continue. */
export interface SessionStart {
  readonly hasPrompt: boolean
  /** An existing conversation, with the number of messages in its record. */
  readonly thread?: { readonly id: ThreadId; readonly heard: number }
  readonly importedState?: ImportedState
}

/** The state of imported work, which began elsewhere and continues here. */
export interface ImportedState {
  /** The messages there, the prompt first: one line each. */
  readonly messages: readonly string[]
  /** The number of messages that the agent has read, from the first on. oneshot still has to deliver the others. */
  readonly read: number
  /**
   * The usage there, which counts against the session's limits; and the part of it that belongs to the conversation.
   */
  readonly spent: Usage
  readonly spentInThread: Usage
  readonly tasks: readonly Task[]
  /** The reason why the work does not continue where it was. */
  readonly reason: string
  /** The length of the transcript that the import stored. */
  readonly transcript: number
}

/** Returns a session's first step, which creates it and launches its first attempt. */
export function createSession(spec: Spec, { hasPrompt, thread, importedState }: SessionStart): Decision {
  const at = spec.createdAt
  const prompt: Message = {
    id: 1,
    key: 'prompt',
    summary: spec.title,
    acceptedAt: at,
    deliveredAt: null,
    confirmedAt: null,
  }
  const newSession: Session = {
    spec,
    phase: { name: 'starting', since: at },
    wanted: 'run',
    // No turn is interrupted before the first attempt.
    attempt: { ...newAttempt(0, null), isTurnOver: true },
    restarts: [],
    restartCount: 0,
    forgivenAt: 0,
    alertedAt: null,
    outages: 0,
    limitedSince: null,
    thread: { id: null, number: 1, since: at, from: 1, heard: 0, needsDigest: false, losses: 0, ...thread },
    messages: hasPrompt ? [prompt] : [],
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
    startedAt: null,
    clockSince: at,
    transcriptLength: 0,
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
    messages: messages.map((summary, index) => ({
      id: index + 1,
      key: index === 0 ? 'prompt' : `inherited ${index + 1}`,
      summary,
      acceptedAt: at,
      deliveredAt: index < read ? at : null,
      confirmedAt: index < read ? at : null,
    })),
    tasks,
    spending: { ...newSession.spending, before: spent, ...(hasThread && { thread: spentInThread }) },
    thread: { ...newSession.thread, needsDigest: !hasThread },
    attempt: {
      ...newSession.attempt,
      // The interrupted turn continues before the agent reads the next message.
      isTurnOver: read === messages.length,
      result: { ok: false, text: reason, failure: { kind: 'other', text: reason, resetAt: null, remedy: null } },
    },
    transcriptLength: transcript,
  }
}
