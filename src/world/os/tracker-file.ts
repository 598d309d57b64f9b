import crypto from 'node:crypto'
import fs from 'node:fs'
import type { Issue, Tracked } from '../../core/tracked.ts'
import { readPart, replaceFile } from './files.ts'
import { sessionFolder } from './folders.ts'
import type { Home } from './home.ts'

/** What a session last saw of its project's task tracker; null when it never saw one. Needs no supervisor. */
export function readTracked(home: Home, sessionId: string): Tracked | null {
  const { tracker } = sessionFolder(home, sessionId)
  return fs.existsSync(tracker) ? checked(readPart(tracker, 0, LARGEST).toString()) : null
}

const LARGEST = 4_194_304
/** The farthest that can be written as a date. */
const LAST_INSTANT = 8.64e15

/** Null when it is not to be understood: half written, or not ours. Then it is seen anew. */
export function checked(text: string): Tracked | null {
  const { kind, version, at, hash, ready, settled = [] } = parse(text)
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

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>
  } catch {
    return {}
  }
}

function isIssue(item: unknown): item is Issue {
  const { id, title, state } = Object(item) as Partial<Record<keyof Issue, unknown>>
  return typeof id === 'string' && typeof title === 'string' && STATES.includes(state)
}

const STATES: readonly unknown[] = ['open', 'doing', 'done'] satisfies Issue['state'][]

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
