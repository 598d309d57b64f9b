import fs from 'node:fs'
import path from 'node:path'
import { withAttempt } from '../../src/core/session/attempt.ts'
import { createSession } from '../../src/core/session/create.ts'
import type { Session } from '../../src/core/session/session-state.ts'
import { type Home, openHome } from '../../src/state/home.ts'
import { sessionFolder } from '../../src/state/session-folder.ts'
import { openStore } from '../../src/world/store/sqlite-store.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import { makeSpec } from '../../testkit/in-memory/simulation.ts'

/** Milliseconds between the ends of two sessions. */
const PAUSE = 60_000

/** Fills a home with ended sessions, in one transaction, as a supervisor leaves them. */
export function addEndedSessions(home: Home, count: number, project: string): void {
  openHome(home)
  const store = openStore(home.database)
  const begun = Date.now() - (count + 1) * PAUSE
  const sessions = Array.from({ length: count }, (_, n) => endedSession(n, begun + n * PAUSE, project))
  store.insertSessions(sessions)
  store.markSettled(sessions.map(({ spec }) => spec.id))
  store.close()
}

function endedSession(number: number, at: number, project: string): Session {
  const id = `h${String(number).padStart(9, '0')}`
  const task = `history-${number}`
  const cwd = path.join(project, `p${number % 50}`)
  const title = `${task}: ${'fix the login of users that have no password '.repeat(10)}`
  const spec = { ...makeSpec({ agent: 'talker', id, task, cwd, title, createdAt: at }), agent: 'command' }
  const { session } = createSession({ ...spec, name: `command-${task}` }, { hasPrompt: false })
  return {
    ...withAttempt(session, { exit: { kind: 'code', code: 0 } }),
    phase: { name: 'ended', at: at + 1_000, outcome: 'done', reason: 'exit code 0', trouble: null },
  }
}

/** Gives an ended session a transcript of this size. */
export function writeTranscript(home: Home, number: number, size: number): void {
  const { root, transcript } = sessionFolder(home, testSessionId(`h${String(number).padStart(9, '0')}`))
  fs.mkdirSync(root, { recursive: true, mode: 0o700 })
  const block = Buffer.from(`${'a line of a transcript, as an agent writes it'.padEnd(63)}\n`.repeat(16_384))
  const file = fs.openSync(transcript, 'w', 0o600)
  for (let written = 0; written < size; written += block.length) fs.writeSync(file, block)
  fs.closeSync(file)
}
