import type { Session } from '../core/session.ts'
import type { Signal } from '../core/signals.ts'
import { nameUuid } from '../lib/name-uuid.ts'
import type { Instant } from '../lib/time.ts'
import { Trouble } from '../lib/trouble.ts'
import type { Agent, ThreadPlace, ThreadRecord } from '../ports/agent.ts'
import type { Work } from '../ports/work.ts'
import { attemptRef } from './attempt-ref.ts'

/** A UUID for the session's current thread: the same at every look, another for the thread after it. */
export function tagOf({ spec, thread }: Session): string {
  return nameUuid(`${spec.id}/${thread.number}`)
}

/** What is needed to look a thread up. */
export interface Archive {
  readonly work: Work
  readonly agent: Agent
  /** The threads of all other sessions. */
  readonly others: () => readonly string[]
}

/** Looks up the agent's own record of the session's thread. */
export function findThread(session: Session, archive: Archive): ThreadRecord | null {
  return archive.agent.find?.(placeOf(session, archive)) ?? null
}

function placeOf(session: Session, { work, others }: Archive): ThreadPlace {
  const { spec, thread } = session
  return {
    thread: thread.id,
    tag: tagOf(session),
    cwd: spec.cwd,
    env: work.environment(spec.id),
    since: thread.since,
    others: thread.id === null ? others() : [],
    opening: thread.id === null ? openingOf(session, work) : '',
  }
}

/** The text that the latest attempt in this thread was started with. */
function openingOf(session: Session, work: Work): string {
  for (let attempt = session.attempt; attempt >= session.thread.from; attempt--) {
    const text = given(session, attempt, work)
    if (text !== null) return text
  }
  return ''
}

/** What an attempt was started with; null when it was not. */
function given(session: Session, attempt: number, work: Work): string | null {
  const bytes = work.given(attemptRef(session, attempt))
  return bytes === null ? null : Buffer.from(bytes).toString()
}

/** When the agent last wrote in its own record; null when that cannot be told. */
export function recordedAt(session: Session, archive: Archive): Instant | null {
  return unlessTrouble(() => findThread(session, archive), null)?.writtenAt ?? null
}

/** While the agent is at work: the record is looked up again at the end, so that one that cannot be read holds nothing up. */
export function glance(session: Session, archive: Archive, at: Instant): Signal[] {
  return unlessTrouble(() => survey(session, archive, { at, isFinal: false }), [])
}

/** When nobody writes in it any more. What cannot be read holds a restart up for as long as that may help, and an end never. */
export function lastLook(session: Session, archive: Archive, at: Instant): Signal[] {
  const isOver = session.phase.name === 'stopping' && session.phase.next.kind === 'end'
  const look = (): Signal[] => survey(session, archive, { at, isFinal: true })
  return unlessTrouble(look, [], trouble => isOver || !trouble.mayHelpToRetry)
}

/** How much is said in the thread of a session that has ended; nothing when it cannot be told. */
export function count(session: Session, archive: Archive): { heard?: number } {
  if (session.phase.name !== 'ended' || session.thread.id === null) return {}
  const record = unlessTrouble(() => findThread(session, archive), null)
  return record === null ? {} : { heard: record.messages.length }
}

export function hasRecord(session: Session, archive: Archive): boolean {
  return unlessTrouble(() => findThread(session, archive), null) !== null
}

function unlessTrouble<T>(look: () => T, otherwise: T, isBearable: (trouble: Trouble) => boolean = () => true): T {
  try {
    return look()
  } catch (cause) {
    if (cause instanceof Trouble && isBearable(cause)) return otherwise
    throw cause
  }
}

/** What the agent's own record tells about what this attempt was given; nothing when there is no record. */
function survey(session: Session, archive: Archive, options: { at: Instant; isFinal: boolean }): Signal[] {
  const { attempt, thread } = session
  if (archive.agent.find === undefined) return thread.id === null ? [] : [byHearsay(session, options)]
  const record = findThread(session, archive)
  if (record === null) return []
  const text = errandOf(session, archive.work)
  const news = record.messages.slice(thread.heard)
  return [
    {
      ...options,
      type: 'thread.surveyed',
      attempt,
      thread: record.thread,
      messages: record.messages.length,
      hasErrand: news.some(message => isSame(message, text)) || (news.length > 0 && isCommand(text)),
    },
  ]
}

/** A message is compared as it was accepted: what an attempt was laid down with may not outlive a power cut. */
function errandOf(session: Session, work: Work): string {
  const { errand, spec, attempt } = session
  if (errand?.kind === 'message') return Buffer.from(work.message(spec.id, errand.message)).toString()
  return given(session, attempt, work) ?? ''
}

/** An agent whose record we cannot read has begun with what it was given once it names its thread. */
function byHearsay({ attempt, thread }: Session, options: { at: Instant; isFinal: boolean }): Signal {
  const messages = thread.heard + 1
  return { ...options, type: 'thread.surveyed', attempt, thread: thread.id ?? '', messages, hasErrand: true }
}

/** Programs trim what they are given, and some change line ends. */
function isSame(a: string, b: string): boolean {
  return normal(a) === normal(b)
}

function normal(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** Programs write down what a command of theirs stands for, not the command. */
function isCommand(text: string): boolean {
  return /^\s*\//.test(text)
}
