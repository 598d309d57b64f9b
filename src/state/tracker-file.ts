import crypto from 'node:crypto'
import fs from 'node:fs'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Issue, TrackerSnapshot } from '../core/session/tasks-and-tracker-issues.ts'
import { instant, object, oneOf, type Parser, string, tryParseJson, validEntriesOf, withDefault } from '../lib/codec.ts'
import { replaceFile } from '../os/files/file-io.ts'
import { readJsonCache } from '../os/files/json-file.ts'
import { sessionFolder } from './session-folder.ts'
import type { Home } from './home.ts'

/** Returns the session's last snapshot of its project's task tracker; null if there is none. Needs no supervisor. */
export function readTrackerFile(home: Home, sessionId: SessionId): TrackerSnapshot | null {
  return readJsonCache(sessionFolder(home, sessionId).tracker, parseSnapshot, MAX_FILE_SIZE)
}

const MAX_FILE_SIZE = 4_194_304

const parseIssue: Parser<Issue> = object({ id: string, title: string, state: oneOf('open', 'doing', 'done') })

/** `version` is that of the tracker. A snapshot of another form counts as none: the supervisor asks the tracker again. */
const parseSnapshot: Parser<TrackerSnapshot> = object({
  kind: oneOf('beads'),
  version: string,
  at: instant,
  hash: string,
  ready: validEntriesOf(parseIssue),
  settled: withDefault(validEntriesOf(string), []),
})

/** Returns null for a text that is incomplete or not from oneshot. */
export function parseTrackerFile(text: string): TrackerSnapshot | null {
  return tryParseJson(text, parseSnapshot)
}

export function writeTrackerFile(home: Home, sessionId: SessionId, seen: Omit<TrackerSnapshot, 'hash'>): void {
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
