import { type ThreadId, threadId } from '../core/session/conversation.ts'
import type { Session } from '../core/session/session-state.ts'
import type { SignalOf } from '../core/session/signals.ts'
import { nameUuid } from '../lib/name-uuid.ts'
import type { Instant } from '../lib/time.ts'
import { Trouble } from '../lib/errors.ts'
import type { Agent, ThreadQuery, ThreadRecord } from '../ports/agent.ts'
import type { Runtime } from '../ports/runtime.ts'
import { attemptRef } from '../ports/runtime.ts'

/** Returns a UUID for the session's current thread: stable across calls, different for the next thread. */
export function threadTag({ spec, thread }: Session): ThreadId {
  return threadId(nameUuid(`${spec.id}/${thread.number}`))
}

type SurveySignal = SignalOf<'thread.surveyed'>

/** The ports that a thread lookup needs. */
export interface ThreadContext {
  readonly work: Runtime
  readonly agent: Agent
  /** Returns true for a thread of another session. */
  readonly isForeign: (thread: ThreadId) => boolean
}

/** Looks up the agent's own record of the session's thread. */
export function findThread(session: Session, context: ThreadContext): ThreadRecord | null {
  return context.agent.findThread?.(threadQuery(session, context)) ?? null
}

function threadQuery(session: Session, { work: runtime, isForeign }: ThreadContext): ThreadQuery {
  const { spec, thread } = session
  return {
    thread: thread.id,
    tag: threadTag(session),
    cwd: spec.cwd,
    env: runtime.readEnvironment(spec.id),
    since: thread.since,
    isForeign,
    opening: thread.id === null ? firstText(session, runtime) : '',
  }
}

/** Returns the input of the latest attempt in this thread that has one. */
function firstText(session: Session, runtime: Runtime): string {
  for (let attempt = session.attempt.number; attempt >= session.thread.from; attempt--) {
    const text = attemptStdin(session, attempt, runtime)
    if (text !== null) return text
  }
  return ''
}

/** Returns the input of an attempt; null when the attempt had none. */
function attemptStdin(session: Session, attempt: number, runtime: Runtime): string | null {
  const bytes = runtime.readStdin(attemptRef(session, attempt))
  return bytes === null ? null : Buffer.from(bytes).toString()
}

/** Returns the time of the agent's last write to its own record; null when it is unknown. */
export function threadWrittenAt(session: Session, context: ThreadContext): Instant | null {
  return ignoreTrouble(() => findThread(session, context), null)?.writtenAt ?? null
}

/**
 * Checks the record while the agent is running. An unreadable record delays nothing, because `checkFinalThread` reads
 * it again at the end.
 */
export function checkRunningThread(session: Session, context: ThreadContext, at: Instant): SurveySignal[] {
  return ignoreTrouble(() => checkThread(session, context, { at, isFinal: false }), [])
}

/**
 * Checks the record when nobody writes to it any more. An unreadable record delays a restart as long as a retry may
 * help; it never delays an end.
 */
export function checkFinalThread(session: Session, context: ThreadContext, at: Instant): SurveySignal[] {
  const isOver = 'next' in session.phase && session.phase.next.kind === 'end'
  const look = (): SurveySignal[] => checkThread(session, context, { at, isFinal: true })
  return ignoreTrouble(look, [], trouble => isOver || !trouble.mayHelpToRetry)
}

/** Counts the messages in the thread of an ended session; returns an empty object when the count is unknown. */
export function countThreadMessages(session: Session, context: ThreadContext): { heard?: number } {
  if (session.phase.name !== 'ended' || session.thread.id === null) return {}
  const record = ignoreTrouble(() => findThread(session, context), null)
  return record === null ? {} : { heard: record.messages.length }
}

export function hasThreadRecord(session: Session, context: ThreadContext): boolean {
  return ignoreTrouble(() => findThread(session, context), null) !== null
}

function ignoreTrouble<T>(look: () => T, otherwise: T, isBearable: (trouble: Trouble) => boolean = () => true): T {
  try {
    return look()
  } catch (cause) {
    if (cause instanceof Trouble && isBearable(cause)) return otherwise
    throw cause
  }
}

/** Compares the agent's own record with this attempt's input; returns nothing without a record. */
function checkThread(
  session: Session,
  context: ThreadContext,
  options: { at: Instant; isFinal: boolean },
): SurveySignal[] {
  const { thread } = session
  const { number: attempt } = session.attempt
  if (context.agent.findThread === undefined) return thread.id === null ? [] : [assumeRead(session, thread.id, options)]
  const record = findThread(session, context)
  if (record === null) return []
  const text = turnInputOf(session, context.work)
  const news = record.messages.slice(thread.heard)
  return [
    {
      ...options,
      type: 'thread.surveyed',
      attempt,
      thread: record.thread,
      messages: record.messages.length,
      hasInput: news.some(message => isSameText(message, text)) || (news.length > 0 && isSlashCommand(text)),
    },
  ]
}

/** Compares with the accepted message, because the attempt's stored input may not survive a power cut. */
function turnInputOf(session: Session, runtime: Runtime): string {
  const { spec } = session
  const { input, number: attempt } = session.attempt
  if (input?.kind === 'message') return Buffer.from(runtime.readMessage(spec.id, input.message)).toString()
  return attemptStdin(session, attempt, runtime) ?? ''
}

/** Assumes that an agent whose record we cannot read has received its input once it reports its thread. */
function assumeRead(
  { attempt: { number: attempt }, thread: { heard } }: Session,
  thread: ThreadId,
  options: { at: Instant; isFinal: boolean },
): SurveySignal {
  return { ...options, type: 'thread.surveyed', attempt, thread, messages: heard + 1, hasInput: true }
}

/** Ignores differences in white space: programs trim their input, and some change line ends. */
function isSameText(a: string, b: string): boolean {
  return normalizeSpace(a) === normalizeSpace(b)
}

function normalizeSpace(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** Programs record the expansion of a slash command, not the command itself. */
function isSlashCommand(text: string): boolean {
  return /^\s*\//.test(text)
}
