import fs from 'node:fs'
import type { Session } from '../../src/core/session/session-state.ts'
import type { SessionFolder } from '../../src/state/session-folder.ts'

const PATIENCE = 120_000

/**
 * Waits until a session's copy on disk, which the supervisor writes after the commit to the database, shows its end.
 * Returns the time as `performance.now()` in the callback of inotify; without polling, the wait disturbs no process.
 */
export function waitForEndRecord({ root, mirror }: SessionFolder): Promise<{ at: number; session: Session }> {
  return new Promise((resolve, reject) => {
    const watcher = fs.watch(root, look)
    const limit = setTimeout(() => {
      watcher.close()
      reject(new Error(`waited ${PATIENCE / 1000} s in vain for the session's end: ${fs.readFileSync(mirror, 'utf8')}`))
    }, PATIENCE)
    look()

    function look(): void {
      const at = performance.now()
      const session = JSON.parse(fs.readFileSync(mirror, 'utf8')) as Session
      if (session.phase.name !== 'ended') return
      clearTimeout(limit)
      watcher.close()
      resolve({ at, session })
    }
  })
}
