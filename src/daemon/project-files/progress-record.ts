import type { SessionId } from '../../core/session/session-id-and-name.ts'
import type { Home } from '../../state/home.ts'
import fs from 'node:fs'
import type { Instant } from '../../lib/time.ts'
import { instant, nullable, object, type Parser, string, withDefault } from '../../lib/codec.ts'
import { readJsonFile } from '../../os/files/json-file.ts'
import { sessionFolder } from '../../state/session-folder.ts'
import { type LogProgress, parseLogProgress } from '../../world/project-files/session-log.ts'

/**
 * Records how far oneshot has written the project files of a session. The record is in the state folder, where agents
 * and people do not edit it.
 */
export interface Progress {
  /** Null before the first write. */
  readonly log: LogProgress | null
  /** The hash of the session's tasks, and the time of its last change. */
  readonly state: { readonly hash: string; readonly at: Instant } | null
  /** The end of the session for which oneshot has written all files; null before that. */
  readonly endedAt: Instant | null
}

const NO_PROGRESS: Progress = { log: null, state: null, endedAt: null }

/** Returns undefined when nothing was ever written for this session. An unreadable record counts as an empty one. */
export function readProgress(home: Home, id: SessionId): Progress | undefined {
  try {
    return readJsonFile(sessionFolder(home, id).project, parseProgress, MAX_RECORD_SIZE)
  } catch {
    return NO_PROGRESS // The writers compare the files with the sources, and write them again.
  }
}

const parseProgress: Parser<Progress> = object({
  log: withDefault(nullable(parseLogProgress), null),
  state: withDefault(nullable(object({ hash: string, at: instant })), null),
  endedAt: withDefault(nullable(instant), null),
})

/** Bytes; a record is much shorter. */
const MAX_RECORD_SIZE = 65_536

/** All records have this length, so that one write call replaces a record by the next. */
const RECORD_LENGTH = 640

/**
 * Overwrites the record in place, which takes a twentieth of the time of a new file with a rename. After a kill, the
 * file holds the old or the new record. After a power cut, the record may not match the files: then the log is shorter
 * than recorded, and the copier writes it again.
 */
export function saveProgress(home: Home, id: SessionId, progress: Progress): void {
  const fd = fs.openSync(sessionFolder(home, id).project, fs.constants.O_WRONLY | fs.constants.O_CREAT, 0o600)
  try {
    fs.writeSync(fd, `${JSON.stringify(progress).padEnd(RECORD_LENGTH)}\n`, 0)
  } finally {
    fs.closeSync(fd)
  }
}
