import type { Session } from '../core/session.ts'
import type { Signal } from '../core/signals.ts'
import { nameUuid } from '../lib/name-uuid.ts'
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

/** What the agent's own record tells about what this attempt was given; nothing when there is no record. */
export function survey(session: Session, archive: Archive, options: { at: number; isFinal: boolean }): Signal[] {
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
function byHearsay({ attempt, thread }: Session, options: { at: number; isFinal: boolean }): Signal {
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
