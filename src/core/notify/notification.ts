import { formatDuration, type Instant, formatIso } from '../../lib/time.ts'
import type { NoticeKind } from './notice.ts'
import type { Notice } from './notice.ts'

/** A message for a channel: one notice, or several in one if there are too many. */
export interface Notification {
  readonly id: string
  /** A few words. */
  readonly heading: string
  /** All facts, in a few lines. */
  readonly text: string
  /** Somebody has to act. */
  readonly isUrgent: boolean
  readonly terminals: readonly string[]
  /** The form for programs, equal in every channel that sends JSON. */
  readonly document: NotificationDocument
}

export interface NotificationDocument {
  readonly id: string
  readonly event: NoticeKind | 'several' | 'test'
  readonly at: string
  readonly text: string
  readonly command: string | null
  readonly outcome: Notice['outcome']
  readonly reason: string
  readonly exitCode: number | null
  readonly session: Omit<Notice['session'], 'tty'> | null
  /** Present if the notification combines several notices. */
  readonly notices?: readonly NotificationDocument[]
}

/** Milliseconds. An older notice says how old it is. */
const AGE_SHOWN_AFTER = 120_000
/** The number of notices that a combined notification lists one by one. */
const MAX_LISTED = 10

const NOT_URGENT: ReadonlySet<NoticeKind> = new Set(['done', 'limit'])

export function notificationOf(notices: readonly [Notice, ...Notice[]], now: Instant): Notification {
  const [first] = notices
  return notices.length === 1 ? singleNotification(first, now) : combinedNotification(notices, now)
}

function singleNotification(notice: Notice, now: Instant): Notification {
  const { id, kind, text, command, session } = notice
  const age = now - notice.at
  const lines = [
    age > AGE_SHOWN_AFTER ? `${text} (${formatDuration(age)} ago)` : text,
    ...(session.title === '' ? [] : [session.title]),
    ...(command === null ? [] : [command]),
  ]
  return {
    id,
    heading: text.slice(0, text.indexOf(':')),
    text: lines.join('\n'),
    isUrgent: !NOT_URGENT.has(kind),
    terminals: session.tty === null ? [] : [session.tty],
    document: documentOf(notice),
  }
}

function combinedNotification(notices: readonly [Notice, ...Notice[]], now: Instant): Notification {
  const [first] = notices
  const last = notices.at(-1) ?? first
  const heading = `${notices.length} notices since ${formatDuration(now - first.at)} ago`
  const more = notices.length - MAX_LISTED
  const lines = notices.slice(-MAX_LISTED).map(notice => notice.text)
  const text = [`${heading}:`, ...(more > 0 ? [`… and ${more} before these`] : []), ...lines].join('\n')
  return {
    id: last.id,
    heading,
    text,
    isUrgent: notices.some(({ kind }) => !NOT_URGENT.has(kind)),
    terminals: [...new Set(notices.flatMap(({ session }) => session.tty ?? []))],
    document: {
      id: last.id,
      event: 'several',
      at: formatIso(last.at),
      text,
      command: null,
      outcome: null,
      reason: heading,
      exitCode: null,
      session: null,
      notices: notices.map(documentOf),
    },
  }
}

/** Makes the notification that a user sends by hand to test a channel. */
export function testNotification(at: Instant, terminals: readonly string[]): Notification {
  const id = `test-${at.toString(36)}`
  const text = 'this is a test of oneshot’s notifications'
  const document = { id, event: 'test', at: formatIso(at), text, command: null, reason: text } as const
  return {
    id,
    heading: 'oneshot test',
    text,
    isUrgent: false,
    terminals,
    document: { ...document, outcome: null, exitCode: null, session: null },
  }
}

function documentOf(notice: Notice): NotificationDocument {
  const { id, kind, at, text, command, outcome, reason, exitCode } = notice
  const { tty: _, ...session } = notice.session
  return { id, event: kind, at: formatIso(at), text, command, outcome, reason, exitCode, session }
}

/** Returns the document as environment variables: a command line never contains it. */
export function environmentOf(document: NotificationDocument): Record<string, string> {
  const { session } = document
  return {
    ONESHOT_NOTICE: document.id,
    ONESHOT_EVENT: document.event,
    ONESHOT_TEXT: document.text,
    ONESHOT_COMMAND: document.command ?? '',
    ONESHOT_SESSION: session?.name ?? '',
    ONESHOT_SESSION_ID: session?.id ?? '',
    ONESHOT_AGENT: session?.agent ?? '',
    ONESHOT_CWD: session?.cwd ?? '',
    ONESHOT_OUTCOME: document.outcome ?? '',
    ONESHOT_REASON: document.reason,
    ONESHOT_EXIT_CODE: document.exitCode === null ? '' : String(document.exitCode),
  }
}
