import type { EventView, MessageView, SessionView } from '../api/contract/responses.ts'
import type { Event } from '../core/session/events.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import { formatIso } from '../lib/time.ts'
import { type Home, homeExists } from '../state/home.ts'
import {
  readEvents,
  readEventsAfter,
  readEventsByTime,
  readRecentSessions,
  readStoredSession,
} from '../world/store/reader.ts'
import { toMessageView, toSessionView } from './session-view.ts'
import { sessionFolder, terminalSocket } from '../state/session-folder.ts'
import { FileWatcher } from '../os/files/file-watcher.ts'
import fs from 'node:fs'
import { describeEvent } from '../core/describe/event.ts'

export function readSession(home: Home, id: SessionId): SessionView | undefined {
  const session = homeExists(home) ? readStoredSession(home, id) : undefined
  return session === undefined ? undefined : toSessionView(session, home)
}

/** Reads the events of a session, in order. */
export function readSessionEvents(home: Home, id: SessionId): { at: string; type: string; [key: string]: unknown }[] {
  return readEvents(home, id).map(event => ({ ...event, at: formatIso(event.at) }))
}

/**
 * Yields the session's view now and after each change, until `isOver` returns true (by default, at its end) or the
 * session no longer exists. Needs no supervisor.
 */
export async function* watchSession(
  home: Home,
  id: SessionId,
  signal: AbortSignal,
  isOver: (view: SessionView) => boolean = view => view.phase === 'ended',
): AsyncGenerator<SessionView> {
  const watcher = new FileWatcher([sessionFolder(home, id).root])
  try {
    let shown = ''
    while (!signal.aborted) {
      const view = readSession(home, id)
      if (view === undefined) return
      const now = JSON.stringify(view)
      if (now !== shown) yield view
      shown = now
      if (isOver(view)) return
      await watcher.nextChange(signal)
    }
  } finally {
    watcher.close()
  }
}

/** Returns the tmux target of a session: a terminal session has its own tmux server, all others share one. */
export function findAttachTarget(home: Home, session: SessionView): { socket: string; session: string } {
  const socket = session.mode === 'tty' ? terminalSocket(home, session.id) : home.tmuxSocket
  return { socket, session: session.name }
}

/** Reads the messages of a session, in order, from disk alone; the prompt is the first. */
export function readMessages(home: Home, id: SessionId): MessageView[] {
  const session = homeExists(home) ? readStoredSession(home, id) : undefined
  return session?.messages.map(toMessageView) ?? []
}

/** Reads the complete text of a message, byte for byte. */
export function readMessage(home: Home, id: SessionId, number: number): Uint8Array {
  const { prompt, messages } = sessionFolder(home, id)
  return fs.readFileSync(number === 1 ? prompt : `${messages}/${number}`)
}

/** Yields the events of a session with descriptions, by their time, from disk alone: all or only the `newest`. */
export function* readEventViews(home: Home, id: SessionId, newest: number | 'all'): Generator<EventView> {
  if (!homeExists(home)) return
  for (const event of readEventsByTime(home, id, newest)) yield toEventView(event)
}

/** Yields the events of a session now and as they are recorded, until the session has ended. */
export async function* watchEvents(home: Home, id: SessionId, signal: AbortSignal): AsyncGenerator<EventView> {
  let last = 0
  for await (const _ of watchSession(home, id, signal)) {
    const read = readEventsAfter(home, id, last)
    last = read.last
    yield* read.events.map(toEventView)
  }
}

function toEventView(event: Event): EventView {
  const { at, type, ...more } = event
  return { at: formatIso(at), type, text: describeEvent(event), details: more }
}

/** A kind of output that an agent's adapter did not know. */
export interface UnknownOutput {
  readonly agent: string
  readonly what: string
  /** Number of sessions with this output. */
  readonly sessions: number
}

/** Counts the output of the agents of recent sessions that oneshot did not know, most frequent first. */
export function countUnknownOutput(home: Home): UnknownOutput[] {
  const counts = new Map<string, UnknownOutput>()
  for (const { spec, unknown } of homeExists(home) ? readRecentSessions(home, RECENT) : []) {
    for (const what of unknown) {
      const key = `${spec.agent} ${what}`
      counts.set(key, { agent: spec.agent, what, sessions: (counts.get(key)?.sessions ?? 0) + 1 })
    }
  }
  return [...counts.values()].sort((a, b) => b.sessions - a.sessions)
}

/** An agent's present version has been used in some of these. */
const RECENT = 500
