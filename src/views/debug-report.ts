import fs from 'node:fs'
import path from 'node:path'
import type { Event } from '../core/session/events.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Session } from '../core/session/session-state.ts'
import { maskObject } from '../lib/mask/mask.ts'
import { formatIso } from '../lib/time.ts'
import { sessionFolder } from '../state/session-folder.ts'
import type { Home } from '../state/home.ts'
import { readEventsByTime, readStoredSession, readOutbox } from '../world/store/reader.ts'
import { sessionMask } from './final-output.ts'

/** Bytes; enough for every record that a shim writes. */
const MAX_RECORD_SIZE = 4_096
/** The report quotes only the records of shims: the other files hold prompts, output and environments. */
const QUOTED_FILES = ['claim', 'started', 'exit', 'recorder']
/** A folder with more entries was not made by oneshot. */
const MAX_FILES = 500

export interface DebugReport {
  /** The recorded session, as the supervisor reads it. */
  readonly session: Session
  /** The recorded effects that are not settled yet. */
  readonly outbox: readonly unknown[]
  readonly files: readonly FileReport[]
  readonly events: readonly Event[]
}

export interface FileReport {
  /** Relative to the session's folder. */
  readonly path: string
  readonly bytes: number
  readonly modified: string
  readonly content?: string
}

/**
 * Collects the state of a session for a bug report, with secrets masked. Returns null without a record of the session.
 */
export function buildDebugReport(home: Home, id: SessionId, eventCount: number): DebugReport | null {
  const session = readStoredSession(home, id)
  if (session === undefined) return null
  const mask = sessionMask(home, id)
  const { root } = sessionFolder(home, id)
  const report: DebugReport = {
    session,
    outbox: readOutbox(home, id),
    files: listFiles(root),
    events: [...readEventsByTime(home, id, eventCount)],
  }
  return maskObject(report, mask)
}

function listFiles(root: string): FileReport[] {
  const found: FileReport[] = []
  const folders = [root]
  for (let folder = folders.shift(); folder !== undefined && found.length < MAX_FILES; folder = folders.shift()) {
    for (const entry of listEntries(folder)) {
      const file = path.join(folder, entry.name)
      if (entry.isDirectory()) folders.push(file)
      else if (entry.isFile()) found.push(...describeFile(root, file))
    }
  }
  return found.slice(0, MAX_FILES).sort((a, b) => (a.path < b.path ? -1 : 1))
}

function listEntries(folder: string): fs.Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true })
  } catch {
    return [] // The supervisor may remove the folder at any time.
  }
}

function describeFile(root: string, file: string): FileReport[] {
  try {
    const { size, mtimeMs } = fs.lstatSync(file)
    const isQuoted = QUOTED_FILES.includes(path.basename(file)) && size <= MAX_RECORD_SIZE
    const about = { path: path.relative(root, file), bytes: size, modified: formatIso(Math.floor(mtimeMs)) }
    return [isQuoted ? { ...about, content: fs.readFileSync(file, 'utf8') } : about]
  } catch {
    return [] // The supervisor may have removed the file in the meantime.
  }
}
