import fs from 'node:fs'
import { isSessionId } from '../../core/session/session-id-and-name.ts'
import type { Session } from '../../core/session/session-state.ts'
import { hasCode } from '../../lib/errors.ts'
import { replaceFile } from '../../os/files/file-io.ts'
import { sessionFolder } from '../../state/session-folder.ts'
import type { Home } from '../../state/home.ts'
import { decodeSession, encodeSession, isNewerRecord } from './stored-records.ts'

/**
 * Writes a copy of each session beside its output: the supervisor can rebuild the database from it, and readers notice
 * the change. Several records within one turn of the event loop lead to one copy.
 */
export function createMirror(home: Home): (session: Session) => void {
  const latest = new Map<string, Session>()
  const copyAll = (): void => {
    for (const session of latest.values()) writeMirror(home, session)
    latest.clear()
  }
  return session => {
    if (latest.size === 0) setImmediate(copyAll)
    latest.set(session.spec.id, session)
  }
}

function writeMirror(home: Home, session: Session): void {
  try {
    replaceFile(sessionFolder(home, session.spec.id).mirror, encodeSession(session))
  } catch {
    // A full disk, or a session that was just removed: the database is authoritative, and the next record writes the
    // copy again.
  }
}

/** Returns every session that has a copy. Throws if a newer oneshot wrote one: a rebuild must not leave it out. */
export function readMirrors(home: Home): Session[] {
  const sessions: Session[] = []
  for (const id of listFolder(home.sessions).filter(isSessionId)) {
    try {
      sessions.push(decodeSession(fs.readFileSync(sessionFolder(home, id).mirror, 'utf8')))
    } catch (cause) {
      if (isNewerRecord(cause)) throw cause
      // There is no readable copy: the session was perhaps never accepted. Its files stay.
    }
  }
  return sessions
}

function listFolder(folder: string): string[] {
  try {
    return fs.readdirSync(folder)
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return []
    throw cause
  }
}
