import { createSession } from '../../src/core/session/create.ts'
import type { Phase, Session } from '../../src/core/session/session-state.ts'
import type { SessionView } from '../../src/api/contract/responses.ts'
import type { Home } from '../../src/state/home.ts'
import { findEnded, findLive } from '../../src/views/session-search.ts'
import { openStore } from '../../src/world/store/sqlite-store.ts'
import { testThreadId } from '../core/ids.ts'
import { makeSpec, type SpecOverrides } from '../in-memory/simulation.ts'

/** Returns every session of a home, live ones first. */
export function readSessions(home: Home): SessionView[] {
  return [...findLive(home), ...findEnded(home, {}, { limit: Number.MAX_SAFE_INTEGER })]
}

type StoredFacts = SpecOverrides & { readonly endedAt?: number; readonly thread?: string }

/** Returns the record of a session; it has ended if `endedAt` is given. */
export function storedSession({ endedAt, thread, ...facts }: StoredFacts): Session {
  const task = facts.task ?? 'fix-auth'
  const spec = makeSpec({ agent: 'talker', task, name: `talker-${task}`, cwd: '/home/dev/project', ...facts })
  const { session } = createSession(spec, { hasPrompt: true })
  const ended: Phase = { name: 'ended', at: endedAt ?? 0, outcome: 'done', reason: 'exit code 0', trouble: null }
  return {
    ...session,
    ...(endedAt !== undefined && { phase: ended, exit: { kind: 'code', code: 0 } }),
    thread: { ...session.thread, id: thread === undefined ? null : testThreadId(thread) },
  }
}

/** Stores sessions in the database of a home, all in one transaction. */
export function storeSessions(home: Home, sessions: readonly Session[]): void {
  const store = openStore(home.database)
  store.insertSessions(sessions)
  store.close()
}
