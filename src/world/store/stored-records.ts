import type { Effect, EffectType } from '../../core/session/decision.ts'
import type { Event } from '../../core/session/events.ts'
import type { HookCall, Notice } from '../../core/notify/notice.ts'
import { sessionId } from '../../core/session/session-id-and-name.ts'
import type { PhaseName, Session } from '../../core/session/session-state.ts'
import { upgradeSession } from '../../core/session/upgrade-stored-session.ts'
import {
  assertKnownVersion,
  encodeRecord,
  fields,
  instant,
  listOf,
  NewerVersion,
  object,
  oneOf,
  type Parser,
  parseJson,
  string,
} from '../../lib/codec.ts'
import { Trouble } from '../../lib/errors.ts'

/**
 * The parsers of the database's records and of their mirrors check the parts by which oneshot chooses its actions:
 * version, id, phase, type and time. They do not check each field, because every command reads these records: only
 * oneshot writes them, whole, into a folder that other users cannot open, and the compiler has checked the writer.
 */

/** Version 0.1.0 of oneshot wrote version 1, without a number. Version 3 nests the attempt and the supervision group. */
const SESSION_VERSION = 3

export function encodeSession(session: Session): string {
  return encodeRecord({ version: SESSION_VERSION, parse: parseSession }, session)
}

/** Returns the session in its present form. Throws `Trouble` for a damaged record, and for one of a newer version. */
export function decodeSession(text: string): Session {
  return decode('reading the record of a session', text, parseSession)
}

export function decodeEvent(text: string): Event {
  return decode('reading a recorded event', text, parseEvent)
}

export function decodeEffect(text: string): Effect {
  return decode('reading a recorded effect', text, parseEffect)
}

export function decodeNotice(text: string): Notice {
  return decode('reading a recorded notice', text, parseNotice)
}

export function decodeHookCall(text: string): HookCall {
  return decode('reading a recorded hook', text, parseHookCall)
}

/** Returns true if a newer oneshot wrote the record: no copy elsewhere is older, and nobody may skip it. */
export function isNewerRecord(cause: unknown): boolean {
  return cause instanceof Trouble && cause.cause instanceof NewerVersion
}

function decode<T>(doing: string, text: string, parse: Parser<T>): T {
  try {
    return parseJson(text, parse)
  } catch (cause) {
    throw new Trouble(doing, cause, { mayHelpToRetry: false })
  }
}

const PHASE_NAMES = Object.keys({
  starting: true,
  running: true,
  resting: true,
  waiting: true,
  blocked: true,
  stopping: true,
  verifying: true,
  ended: true,
} satisfies Record<PhaseName, true>)

const EFFECT_TYPES = Object.keys({
  launch: true,
  interrupt: true,
  terminate: true,
  sweep: true,
  kill: true,
  close: true,
} satisfies Record<EffectType, true>)

const sessionOutline = object({
  spec: object({ id: sessionId, name: string, agent: string, cwd: string }),
  phase: object({ name: string }),
})
const sessionPhase = object({ phase: object({ name: oneOf(...PHASE_NAMES) }) })
const eventOutline = object({ at: instant, type: string })
const effectOutline = object({ type: oneOf(...EFFECT_TYPES) })
const noticeOutline = object({
  id: string,
  kind: string,
  at: instant,
  session: object({ id: sessionId }),
  text: string,
})
const hookOutline = object({ id: string, at: instant, argv: listOf(string), reason: string })

function parseSession(value: unknown): Session {
  assertKnownVersion(value, SESSION_VERSION)
  sessionOutline(value)
  const { version: _, ...written } = fields(value)
  const session = upgradeSession(written as unknown as Session)
  sessionPhase(session)
  return session
}

function parseEvent(value: unknown): Event {
  eventOutline(value)
  return value as Event
}

function parseEffect(value: unknown): Effect {
  effectOutline(value)
  return value as Effect
}

function parseNotice(value: unknown): Notice {
  noticeOutline(value)
  return value as Notice
}

function parseHookCall(value: unknown): HookCall {
  hookOutline(value)
  const call = value as HookCall
  return { ...call, session: parseSession(call.session) }
}
