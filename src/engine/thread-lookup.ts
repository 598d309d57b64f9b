import type { Session } from '../core/session/session.ts'
import type { Signal } from '../core/session/signals.ts'
import { nameUuid } from '../lib/name-uuid.ts'
import type { Instant } from '../lib/time.ts'
import { Trouble } from '../lib/errors.ts'
import type { Agent, ThreadQuery, ThreadRecord } from '../ports/agent.ts'
import type { Runtime } from '../ports/runtime.ts'
import { attemptRef } from '../ports/runtime.ts'

/** A UUID for the session's current thread: the same at every look, another for the thread after it. */
export function threadTag({ spec, thread }: Session): string {
  return nameUuid(`${spec.id}/${thread.number}`)
}

/** What is needed to look a thread up. */
export interface ThreadContext {
  readonly work: Runtime
  readonly agent: Agent
  /** The threads of all other sessions. */
  readonly others: () => readonly string[]
}

/** Looks up the agent's own record of the session's thread. */
export function findThread(session: Session, context: ThreadContext): ThreadRecord | null {
  return context.agent.findThread?.(threadQuery(session, context)) ?? null
}

function threadQuery(session: Session, { work: runtime, others }: ThreadContext): ThreadQuery {
  const { spec, thread } = session
  return {
    thread: thread.id,
    tag: threadTag(session),
    cwd: spec.cwd,
    env: runtime.readEnvironment(spec.id),
    since: thread.since,
    others: thread.id === null ? others() : [],
    opening: thread.id === null ? firstText(session, runtime) : '',
  }
}

/** The text that the latest attempt in this thread was started with. */
function firstText(session: Session, runtime: Runtime): string {
  for (let attempt = session.attempt; attempt >= session.thread.from; attempt--) {
    const text = attemptStdin(session, attempt, runtime)
    if (text !== null) return text
  }
  return ''
}

/** What an attempt was started with; null when it was not. */
function attemptStdin(session: Session, attempt: number, runtime: Runtime): string | null {
  const bytes = runtime.readStdin(attemptRef(session, attempt))
  return bytes === null ? null : Buffer.from(bytes).toString()
}

/** When the agent last wrote in its own record; null when that cannot be told. */
export function threadWrittenAt(session: Session, context: ThreadContext): Instant | null {
  return ignoreTrouble(() => findThread(session, context), null)?.writtenAt ?? null
}

/** While the agent is at work: the record is looked up again at the end, so that one that cannot be read holds nothing up. */
export function checkRunningThread(session: Session, context: ThreadContext, at: Instant): Signal[] {
  return ignoreTrouble(() => checkThread(session, context, { at, isFinal: false }), [])
}

/** When nobody writes in it any more. What cannot be read holds a restart up for as long as that may help, and an end never. */
export function checkFinalThread(session: Session, context: ThreadContext, at: Instant): Signal[] {
  const isOver = session.phase.name === 'stopping' && session.phase.next.kind === 'end'
  const look = (): Signal[] => checkThread(session, context, { at, isFinal: true })
  return ignoreTrouble(look, [], trouble => isOver || !trouble.mayHelpToRetry)
}

/** How much is said in the thread of a session that has ended; nothing when it cannot be told. */
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

/** What the agent's own record tells about what this attempt was given; nothing when there is no record. */
function checkThread(session: Session, context: ThreadContext, options: { at: Instant; isFinal: boolean }): Signal[] {
  const { attempt, thread } = session
  if (context.agent.findThread === undefined) return thread.id === null ? [] : [assumeRead(session, options)]
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
      hasErrand: news.some(message => isSameText(message, text)) || (news.length > 0 && isSlashCommand(text)),
    },
  ]
}

/** A message is compared as it was accepted: what an attempt was laid down with may not outlive a power cut. */
function turnInputOf(session: Session, runtime: Runtime): string {
  const { errand, spec, attempt } = session
  if (errand?.kind === 'message') return Buffer.from(runtime.readMessage(spec.id, errand.message)).toString()
  return attemptStdin(session, attempt, runtime) ?? ''
}

/** An agent whose record we cannot read has begun with what it was given once it names its thread. */
function assumeRead({ attempt, thread }: Session, options: { at: Instant; isFinal: boolean }): Signal {
  const messages = thread.heard + 1
  return { ...options, type: 'thread.surveyed', attempt, thread: thread.id ?? '', messages, hasErrand: true }
}

/** Programs trim what they are given, and some change line ends. */
function isSameText(a: string, b: string): boolean {
  return normalizeSpace(a) === normalizeSpace(b)
}

function normalizeSpace(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** Programs write down what a command of theirs stands for, not the command. */
function isSlashCommand(text: string): boolean {
  return /^\s*\//.test(text)
}
