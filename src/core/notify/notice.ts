import { type Mask, maskAndTruncate } from '../../lib/mask/mask.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { type Instant, formatDuration } from '../../lib/time.ts'
import type { Event } from '../session/events.ts'
import type { SessionId } from '../session/session-id-and-name.ts'
import { type Outcome, type Session, isIdle, needsPerson } from '../session/session-state.ts'

/** The kinds of notices, in the order of the documentation. */
export const NOTICE_KINDS = ['done', 'failed', 'gave-up', 'stopped', 'blocked', 'limit', 'restarting'] as const

export type NoticeKind = (typeof NOTICE_KINDS)[number]

/** News for a person. It holds all facts, because somebody may remove its session before oneshot sends it. */
export interface Notice {
  /** Identifies the notice: a repetition has the same id. Letters, digits and hyphens. */
  readonly id: string
  readonly kind: NoticeKind
  readonly at: Instant
  readonly session: {
    readonly id: SessionId
    readonly name: string
    readonly agent: string
    readonly title: string
    readonly cwd: string
    readonly tty: string | null
  }
  readonly outcome: Outcome | null
  /** The evidence. */
  readonly reason: string
  readonly exitCode: number | null
  /** One sentence in one line, with the evidence. */
  readonly text: string
  /** The one command that makes the session continue, if there is one. */
  readonly command: string | null
}

/**
 * Characters. Each of our own reasons fits; an agent's text can have any length. oneshot stores more than it sends, so
 * that it can recognise a secret before it truncates the text.
 */
const MAX_SENT_REASON = 500
const MAX_STORED_REASON = 2_000

/** Returns the notices that a step causes. */
export function noticesOf(session: Session, events: readonly Event[]): Notice[] {
  return events.flatMap(event => noticeOf(session, event) ?? [])
}

function noticeOf(session: Session, event: Event): Notice | null {
  const { name } = session.spec
  switch (event.type) {
    case 'session.ended':
      return noticeOfEnd(session, event)
    case 'session.blocked':
      // A session that got its answer in the same moment waits for nobody, and a user who holds a session knows it.
      if (!needsPerson(session) || (event.trouble === 'held' && !isHeldBySession(event.question))) return null
      return makeNotice(session, event.at, 'blocked', event.question, `${name} waits for you`, answerCommand(session))
    case 'session.resting': {
      const cause = event.cause ?? (session.phase.name === 'resting' ? session.phase.cause : undefined)
      if (cause !== 'limit') return null
      const rest = formatDuration(event.until - event.at)
      return makeNotice(session, event.at, 'limit', event.reason, `${name} rests for ${rest} and then continues`, null)
    }
    case 'session.restarting-often': {
      const reason = `${event.restarts} restarts within ${formatDuration(event.within)}`
      return makeNotice(session, event.at, 'restarting', reason, `${name} restarts too often`, `oneshot log ${name}`)
    }
    default:
      return null
  }
}

const HELD_BY_SESSION = 'held by the session '

function isHeldBySession(question: string): boolean {
  return question.startsWith(HELD_BY_SESSION)
}

/** A user who stops a session knows it; another session, a time limit or a budget stops it while nobody looks. */
function noticeOfEnd(session: Session, event: Event & { type: 'session.ended' }): Notice | null {
  const { at, outcome, reason } = event
  const { name } = session.spec
  // The parent session reports the end of its parts together with its own.
  const isByUser = event.trouble === 'stopped' && session.stoppedBy === undefined
  if (isByUser || session.spec.parent !== undefined) return null
  const canGoOn = outcome !== 'done' && session.messages.length > 0
  const said = { done: 'is done', failed: 'failed', 'gave-up': 'gave up', stopped: 'was stopped' }[outcome]
  return makeNotice(session, at, outcome, reason, `${name} ${said}`, canGoOn ? `oneshot resume ${name}` : null)
}

function answerCommand(session: Session): string | null {
  const { name, mode } = session.spec
  if (isIdle(session)) return `oneshot resume ${name}`
  return mode === 'tty' ? `oneshot attach ${name}` : null
}

function makeNotice(
  { spec, phase, attempt: { exit } }: Session,
  at: Instant,
  kind: NoticeKind,
  why: string,
  what: string,
  command: string | null,
): Notice {
  const reason = toOneLine(why.slice(0, MAX_STORED_REASON)).slice(0, MAX_STORED_REASON)
  const { id, name, agent, cwd, tty = null } = spec
  return {
    id: noticeId(id, at, kind),
    kind,
    at,
    session: { id, name, agent, title: toOneLine(spec.title), cwd, tty },
    outcome: phase.name === 'ended' ? phase.outcome : null,
    reason,
    exitCode: exit?.kind === 'code' ? exit.code : null,
    text: `${what}: ${reason}`,
    command,
  }
}

/** Masks the secrets of the session in a notice and truncates it, before it leaves the machine. */
export function maskNotice(notice: Notice, mask: Mask): Notice {
  const { session, command } = notice
  const what = notice.text.slice(0, notice.text.length - notice.reason.length)
  const reason = maskAndTruncate(notice.reason, MAX_SENT_REASON, mask)
  const title = mask.maskText(session.title)
  const hidden = { ...session, title, name: mask.maskText(session.name), cwd: mask.maskText(session.cwd) }
  const text = `${mask.maskText(what)}${reason}`
  return { ...notice, session: hidden, reason, text, command: command === null ? null : mask.maskText(command) }
}

/** A session never has two events of one kind at the same time. */
function noticeId(sessionId: SessionId, at: Instant, kind: string): string {
  return `${sessionId}-${at.toString(36)}-${kind}`
}

/** A program to run because a session has ended. */
export interface HookCall {
  /** Identifies the call: a repetition has the same id. */
  readonly id: string
  readonly at: Instant
  readonly argv: readonly string[]
  readonly outcome: Outcome
  readonly reason: string
  /** The session at its end. Somebody may resume or remove it before its hook runs. */
  readonly session: Session
}

/** Returns the hooks to run after a step. */
export function hooksOf(session: Session, events: readonly Event[]): HookCall[] {
  const { id, supervision } = session.spec
  const { onExit: argv } = supervision
  if (argv === undefined) return []
  return events.flatMap(event => {
    if (event.type !== 'session.ended') return []
    const { at, outcome, reason } = event
    return [{ id: noticeId(id, at, 'on-exit'), at, argv, outcome, reason, session }]
  })
}
