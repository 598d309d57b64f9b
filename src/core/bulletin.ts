import { formatDuration, type Instant, iso } from '../lib/time.ts'
import type { NoticeKind } from './notice-kinds.ts'
import type { Notice } from './notices.ts'

/** What a channel is given to tell: one notice, or several in one when there are too many. */
export interface Bulletin {
  readonly id: string
  /** A few words. */
  readonly heading: string
  /** All of it, in a few lines. */
  readonly text: string
  /** Somebody has to do something. */
  readonly isUrgent: boolean
  readonly terminals: readonly string[]
  /** For programs: the same in every channel that hands on JSON. */
  readonly document: BulletinDocument
}

export interface BulletinDocument {
  readonly id: string
  readonly event: NoticeKind | 'several' | 'test'
  readonly at: string
  readonly text: string
  readonly command: string | null
  readonly outcome: Notice['outcome']
  readonly reason: string
  readonly exitCode: number | null
  readonly session: Omit<Notice['session'], 'tty'> | null
  /** Present when it tells of several. */
  readonly notices?: readonly BulletinDocument[]
}

/** From here on a notice says how old it is. */
const LATE = 120_000
/** How many are told of one by one in a bulletin of several. */
const TOLD = 10

const QUIET: ReadonlySet<NoticeKind> = new Set(['done', 'limit'])

export function bulletinOf(notices: readonly [Notice, ...Notice[]], now: Instant): Bulletin {
  const [first] = notices
  return notices.length === 1 ? ofOne(first, now) : ofSeveral(notices, now)
}

function ofOne(notice: Notice, now: Instant): Bulletin {
  const { id, kind, text, command, session } = notice
  const age = now - notice.at
  const lines = [
    age > LATE ? `${text} (${formatDuration(age)} ago)` : text,
    ...(session.title === '' ? [] : [session.title]),
    ...(command === null ? [] : [command]),
  ]
  return {
    id,
    heading: text.slice(0, text.indexOf(':')),
    text: lines.join('\n'),
    isUrgent: !QUIET.has(kind),
    terminals: session.tty === null ? [] : [session.tty],
    document: documentOf(notice),
  }
}

function ofSeveral(notices: readonly [Notice, ...Notice[]], now: Instant): Bulletin {
  const [first] = notices
  const last = notices.at(-1) ?? first
  const heading = `${notices.length} notices since ${formatDuration(now - first.at)} ago`
  const more = notices.length - TOLD
  const lines = notices.slice(-TOLD).map(notice => notice.text)
  const text = [`${heading}:`, ...(more > 0 ? [`… and ${more} before these`] : []), ...lines].join('\n')
  return {
    id: last.id,
    heading,
    text,
    isUrgent: notices.some(({ kind }) => !QUIET.has(kind)),
    terminals: [...new Set(notices.flatMap(({ session }) => session.tty ?? []))],
    document: {
      id: last.id,
      event: 'several',
      at: iso(last.at),
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

/** Sent by hand, to see whether a channel works. */
export function testBulletin(at: Instant, terminals: readonly string[]): Bulletin {
  const id = `test-${at.toString(36)}`
  const text = 'this is a test of oneshot’s notifications'
  const document = { id, event: 'test', at: iso(at), text, command: null, reason: text } as const
  return {
    id,
    heading: 'oneshot test',
    text,
    isUrgent: false,
    terminals,
    document: { ...document, outcome: null, exitCode: null, session: null },
  }
}

function documentOf(notice: Notice): BulletinDocument {
  const { id, kind, at, text, command, outcome, reason, exitCode } = notice
  const { tty: _, ...session } = notice.session
  return { id, event: kind, at: iso(at), text, command, outcome, reason, exitCode, session }
}

/** The same for a program's environment: never part of a command line. */
export function variablesOf(document: BulletinDocument): Record<string, string> {
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
