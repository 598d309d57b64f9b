import type { EventView, MessageView, SessionView } from '../api/contract/responses.ts'
import { formatIso } from '../lib/time.ts'
import { type Home, homeExists } from '../state/home.ts'
import { readEvents, readStoredSession, readStoredSessions } from '../world/store/reader.ts'
import { toMessageView, toSessionView } from './session-view.ts'
import { sessionFolder, terminalSocket } from '../state/session-folder.ts'
import { FileWatcher } from '../os/files/file-watcher.ts'
import fs from 'node:fs'
import { describeEvent } from '../core/describe/event.ts'

/** Reads every session, newest first, from disk alone. */
export function readSessions(home: Home): SessionView[] {
  return homeExists(home) ? readStoredSessions(home).map(session => toSessionView(session, home)) : []
}

export function readSession(home: Home, id: string): SessionView | undefined {
  const session = homeExists(home) ? readStoredSession(home, id) : undefined
  return session === undefined ? undefined : toSessionView(session, home)
}

/** Reads the events of a session, in order. */
export function readSessionEvents(home: Home, id: string): { at: string; type: string; [key: string]: unknown }[] {
  return readEvents(home, id).map(event => ({ ...event, at: formatIso(event.at) }))
}

/**
 * Yields the session's view now and after each change, until `isOver` returns true (by default, at its end) or the
 * session no longer exists. Needs no supervisor.
 */
export async function* watchSession(
  home: Home,
  id: string,
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
export function readMessages(home: Home, id: string): MessageView[] {
  const session = homeExists(home) ? readStoredSession(home, id) : undefined
  return session?.messages.map(toMessageView) ?? []
}

/** Reads the complete text of a message, byte for byte. */
export function readMessage(home: Home, id: string, number: number): Uint8Array {
  const { prompt, messages } = sessionFolder(home, id)
  return fs.readFileSync(number === 1 ? prompt : `${messages}/${number}`)
}

/** Reads the events of a session with descriptions, in order, from disk alone. */
export function readEventViews(home: Home, id: string): EventView[] {
  if (!homeExists(home)) return []
  return readEvents(home, id).map(event => {
    const { at, type, ...more } = event
    return { at: formatIso(at), type, text: describeEvent(event), details: more }
  })
}

/** A kind of output that an agent's adapter did not know. */
export interface UnknownOutput {
  readonly agent: string
  readonly what: string
  /** Number of sessions with this output. */
  readonly sessions: number
}

/** Counts the agents' output that oneshot did not know, most frequent first. */
export function countUnknownOutput(home: Home): UnknownOutput[] {
  const counts = new Map<string, UnknownOutput>()
  for (const { spec, unknown } of homeExists(home) ? readStoredSessions(home) : []) {
    for (const what of unknown) {
      const key = `${spec.agent} ${what}`
      counts.set(key, { agent: spec.agent, what, sessions: (counts.get(key)?.sessions ?? 0) + 1 })
    }
  }
  return [...counts.values()].sort((a, b) => b.sessions - a.sessions)
}
