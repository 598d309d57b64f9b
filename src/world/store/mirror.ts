import fs from 'node:fs'
import { revive } from '../../core/revive.ts'
import type { Session } from '../../core/session.ts'
import { hasCode } from '../../lib/trouble.ts'
import { replaceFile } from '../os/files.ts'
import { sessionFolder } from '../os/folders.ts'
import type { Home } from '../os/home.ts'

/**
 * A copy of each session beside its output: the database can be rebuilt from it, and readers see that it changed.
 * What is recorded several times in one turn of the event loop is copied once.
 */
export function mirrorTo(home: Home): (session: Session) => void {
  const latest = new Map<string, Session>()
  const copyAll = (): void => {
    for (const session of latest.values()) copy(home, session)
    latest.clear()
  }
  return session => {
    if (latest.size === 0) setImmediate(copyAll)
    latest.set(session.spec.id, session)
  }
}

function copy(home: Home, session: Session): void {
  try {
    replaceFile(sessionFolder(home, session.spec.id).mirror, JSON.stringify(session))
  } catch {
    // A full disk, or a session just removed: the database has the truth, and the next record mirrors again.
  }
}

/** Every session that left a copy. */
export function readMirrors(home: Home): Session[] {
  const sessions: Session[] = []
  for (const id of listed(home.sessions)) {
    try {
      sessions.push(revive(JSON.parse(fs.readFileSync(sessionFolder(home, id).mirror, 'utf8')) as Session))
    } catch {
      // No readable copy: it was never accepted, or cannot be told; its files stay where they are.
    }
  }
  return sessions
}

function listed(folder: string): string[] {
  try {
    return fs.readdirSync(folder)
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return []
    throw cause
  }
}
