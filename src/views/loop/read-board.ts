import fs from 'node:fs'
import type { LoopView } from '../../api/contract/loop-view.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import { createLoop } from '../../core/loop/loop-state.ts'
import { parseLoopSpec } from '../../core/loop/spec.ts'
import type { Instant } from '../../lib/time.ts'
import type { Home } from '../../state/home.ts'
import { loopFolder, readLoop, readLoopOrThrow } from '../../state/loop-file.ts'
import { readLiveSessions, readStoredSession } from '../../world/store/reader.ts'
import { findTop } from '../../world/git/repository.ts'
import { hasBranchFile } from '../../world/git/guard/find-and-check-git-folder.ts'
import { createBoard, hasUnlandedWork } from './board.ts'
import { FileWatcher } from '../../os/files/file-watcher.ts'
import { toSessionView } from '../session-view.ts'
import { readSession } from '../read-session.ts'

/**
 * Reads a loop's board from disk alone; undefined until the loop has read its list. Throws `Trouble` if the loop's record
 * is damaged.
 */
export function readBoard(home: Home, session: SessionView, now: Instant): LoopView | undefined {
  const loop = readLoopOrThrow(home, session.id)
  if (loop === undefined) return undefined
  const workers = readLiveSessions(home).filter(({ spec }) => spec.parent?.id === session.id)
  const phase = readStoredSession(home, session.id)?.phase
  return createBoard(loop, session, now, {
    workers: new Map(workers.map(worker => [worker.spec.name, toSessionView(worker, home)])),
    ...(phase?.name === 'blocked' && { stoppedAt: phase.since }),
  })
}

/** Returns the branch of a loop with finished work that nobody has landed; null if there is none. */
export function findUnlandedBranch(home: Home, session: SessionView): string | null {
  const loop = readLoop(home, session.id)
  if (loop === undefined || loop.branch === null || !hasUnlandedWork(loop) || !fs.existsSync(session.cwd)) return null
  const top = findTop(session.cwd)?.top
  return top !== undefined && hasBranchFile(top, loop.branch) ? loop.branch : null
}

/** Builds the board of a loop without a record yet, from its request. */
export function readInitialBoard(home: Home, session: SessionView, now: Instant): LoopView {
  const argv = readStoredSession(home, session.id)?.spec.argv ?? []
  return createBoard(createLoop(parseLoopSpec(argv), Date.parse(session.createdAt)), session, now)
}

/** Yields a session and its board now and after each change or second, until the session has ended. */
export async function* watchBoard(
  home: Home,
  session: SessionView,
  signal: AbortSignal,
): AsyncGenerator<{ session: SessionView; board: LoopView | undefined }> {
  const watcher = new FileWatcher([loopFolder(home, session.id)])
  try {
    while (!signal.aborted) {
      const now = readSession(home, session.id)
      if (now === undefined) return
      yield { session: now, board: readBoard(home, now, Date.now()) }
      if (now.phase === 'ended') return
      await watcher.nextChange(signal)
    }
  } finally {
    watcher.close()
  }
}
