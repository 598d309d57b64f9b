import fs from 'node:fs'
import type { Instant } from '../../lib/time.ts'
import { hasCode } from '../../lib/trouble.ts'
import { replaceFile } from '../../world/os/files.ts'
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

/** Whoever is killed in the middle of it leaves the one before; after a power cut the log is written again if it is too short. */
export function saveNote(home: Home, id: string, note: Note): void {
  replaceFile(sessionFolder(home, id).project, JSON.stringify(note))
}
