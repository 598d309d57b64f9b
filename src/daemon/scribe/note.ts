import fs from 'node:fs'
import type { Instant } from '../../lib/time.ts'
import { hasCode } from '../../lib/trouble.ts'
import { sessionFolder } from '../../world/os/folders.ts'
import type { Home } from '../../world/os/home.ts'
import type { LogNote } from '../../world/project/session-log.ts'

/** How far the files of a session in its project were written. It lies in the state folder, out of everybody's reach. */
export interface Note {
  /** Null before anything was. */
  readonly log: LogNote | null
  /** The hash of its tasks, and since when it is that. */
  readonly state: { readonly hash: string; readonly at: Instant } | null
  /** The end of the session for which everything was written; null before it has one. */
  readonly endedAt: Instant | null
}

const NOTHING: Note = { log: null, state: null, endedAt: null }

/** Undefined when nothing was ever written for this session. One that cannot be read is begun again. */
export function readNote(home: Home, id: string): Note | undefined {
  try {
    return { ...NOTHING, ...(JSON.parse(fs.readFileSync(sessionFolder(home, id).project, 'utf8')) as Partial<Note>) }
  } catch (cause) {
    return hasCode(cause, 'ENOENT') ? undefined : NOTHING
  }
}

/** Notes are of one length, so that one call replaces one by the next. */
const LENGTH = 640

/**
 * Written over the one before, which takes a twentieth of the time of putting another file in its place: a kill leaves the one
 * or the other. After a power cut it may not fit to what was written: then the log is found too short, and written again.
 */
export function saveNote(home: Home, id: string, note: Note): void {
  const fd = fs.openSync(sessionFolder(home, id).project, fs.constants.O_WRONLY | fs.constants.O_CREAT, 0o600)
  try {
    fs.writeSync(fd, `${JSON.stringify(note).padEnd(LENGTH)}\n`, 0)
  } finally {
    fs.closeSync(fd)
  }
}
