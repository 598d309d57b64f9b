import crypto from 'node:crypto'
import fs from 'node:fs'
import type { Issue, TrackerSnapshot } from '../core/session/task.ts'
import { readPart, replaceFile } from '../os/files/file-io.ts'
import { sessionFolder } from './session-folder.ts'
import type { Home } from './home.ts'

/** Returns the session's last snapshot of its project's task tracker; null if there is none. Needs no supervisor. */
export function readTrackerFile(home: Home, sessionId: string): TrackerSnapshot | null {
  const { tracker } = sessionFolder(home, sessionId)
  return fs.existsSync(tracker) ? parseTrackerFile(readPart(tracker, 0, MAX_FILE_SIZE).toString()) : null
}

const MAX_FILE_SIZE = 4_194_304
/** The last instant that a date can express. */
const LAST_INSTANT = 8.64e15

/** Returns null for a text that is incomplete or not from oneshot; the tracker is then read again. */
export function parseTrackerFile(text: string): TrackerSnapshot | null {
  const { kind, version, at, hash, ready, settled = [] } = parseObject(text)
  if (kind !== 'beads' || typeof version !== 'string' || typeof hash !== 'string') return null
  if (typeof at !== 'number' || !(Math.abs(at) <= LAST_INSTANT)) return null
  if (!Array.isArray(ready) || !Array.isArray(settled)) return null
  return {
    kind,
    version,
    at,
    hash,
    ready: ready.filter(isIssue),
    settled: settled.filter(id => typeof id === 'string'),
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>
  } catch {
    return {}
  }
}

function isIssue(item: unknown): item is Issue {
  const { id, title, state } = Object(item) as Partial<Record<keyof Issue, unknown>>
  return typeof id === 'string' && typeof title === 'string' && ISSUE_STATES.includes(state)
}

const ISSUE_STATES: readonly unknown[] = ['open', 'doing', 'done'] satisfies Issue['state'][]

export function writeTrackerFile(home: Home, sessionId: string, seen: Omit<TrackerSnapshot, 'hash'>): void {
  const { root, tracker } = sessionFolder(home, sessionId)
  if (!fs.existsSync(root)) return // The session was removed meanwhile.
  const { kind, version, at, ready, settled } = seen
  replaceFile(tracker, `${JSON.stringify({ kind, version, at, hash: hashIssues(ready), ready, settled })}\n`)
}

/** Returns the same hash for the same issues in any order. */
function hashIssues(issues: readonly Issue[]): string {
  const lines = issues.map(({ id, title, state }) => JSON.stringify([id, state, title])).toSorted()
  return crypto.createHash('sha256').update(lines.join('\n')).digest('hex')
}
