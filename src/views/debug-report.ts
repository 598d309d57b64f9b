import fs from 'node:fs'
import path from 'node:path'
import type { Event } from '../core/events.ts'
import type { Session } from '../core/session.ts'
import { secretsIn } from '../lib/mask/env-secrets.ts'
import { hideWithin } from '../lib/mask/hide-within.ts'
import { Mask } from '../lib/mask/mask.ts'
import { iso } from '../lib/time.ts'
import { sessionFolder } from '../world/os/folders.ts'
import type { Home } from '../world/os/home.ts'
import { readEvents, readOne, readOutbox } from '../world/store/read.ts'
import { environmentOf } from './last-words.ts'

/** Enough for every record that a shim writes. */
const LONGEST_RECORD = 4_096
/** The report quotes only the records of shims: the other files hold prompts, output and environments. */
const QUOTED = ['claim', 'started', 'exit', 'recorder']
/** A folder with more entries was not made by oneshot. */
const MOST_FILES = 500

export interface DebugReport {
  /** The recorded session, as the supervisor reads it. */
  readonly session: Session
  /** The effects that were decided and not yet settled. */
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

/** Collects the state of a session for a bug report, with secrets hidden. It returns null if there is no record of it. */
export function debugReport(home: Home, id: string, eventCount: number): DebugReport | null {
  const session = readOne(home, id)
  if (session === undefined) return null
  const mask = new Mask(secretsIn(environmentOf(home, id)))
  const { root } = sessionFolder(home, id)
  const report: DebugReport = {
    session,
    outbox: readOutbox(home, id),
    files: listFiles(root),
    events: readEvents(home, id).slice(-eventCount),
  }
  return hideWithin(report, mask)
}

function listFiles(root: string): FileReport[] {
  const found: FileReport[] = []
  const folders = [root]
  for (let folder = folders.shift(); folder !== undefined && found.length < MOST_FILES; folder = folders.shift()) {
    for (const entry of entriesOf(folder)) {
      const file = path.join(folder, entry.name)
      if (entry.isDirectory()) folders.push(file)
      else if (entry.isFile()) found.push(...describeFile(root, file))
    }
  }
  return found.slice(0, MOST_FILES).sort((a, b) => (a.path < b.path ? -1 : 1))
}

function entriesOf(folder: string): fs.Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true })
  } catch {
    return [] // The supervisor may remove it at any time.
  }
}

function describeFile(root: string, file: string): FileReport[] {
  try {
    const { size, mtimeMs } = fs.lstatSync(file)
    const isQuoted = QUOTED.includes(path.basename(file)) && size <= LONGEST_RECORD
    const about = { path: path.relative(root, file), bytes: size, modified: iso(Math.floor(mtimeMs)) }
    return [isQuoted ? { ...about, content: fs.readFileSync(file, 'utf8') } : about]
  } catch {
    return [] // It was removed in the meantime.
  }
}
