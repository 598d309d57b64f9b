import crypto from 'node:crypto'
import fs from 'node:fs'
import type { Issue, Tracked } from '../../core/tracked.ts'
import { replaceFile } from './files.ts'
import { sessionFolder } from './folders.ts'
import type { Home } from './home.ts'

/** What a session last saw of its project's task tracker; null when it never saw one. Needs no supervisor. */
export function readTracked(home: Home, sessionId: string): Tracked | null {
  try {
    const known = JSON.parse(fs.readFileSync(sessionFolder(home, sessionId).tracker, 'utf8')) as Partial<Tracked>
    const { kind = 'beads', version = '', at = 0, hash = '', ready = [], settled = [] } = known
    return { kind, version, at, hash, ready, settled }
  } catch {
    return null // Not there, or lost with the power: it is seen anew.
  }
}

export function writeTracked(home: Home, sessionId: string, seen: Omit<Tracked, 'hash'>): void {
  const { root, tracker } = sessionFolder(home, sessionId)
  if (!fs.existsSync(root)) return // The session was removed meanwhile.
  const { kind, version, at, ready, settled } = seen
  replaceFile(tracker, `${JSON.stringify({ kind, version, at, hash: hashOf(ready), ready, settled })}\n`)
}

/** The same for the same issues, in whatever order they come. */
function hashOf(issues: readonly Issue[]): string {
  const lines = issues.map(({ id, title, state }) => JSON.stringify([id, state, title])).toSorted()
  return crypto.createHash('sha256').update(lines.join('\n')).digest('hex')
}
