import type { LoopView } from '../api/contract/loop-view.ts'
import type { SessionView } from '../api/contract/session-view.ts'
import { createLoop } from '../core/loop/loop.ts'
import type { LoopSpec } from '../core/loop/spec.ts'
import type { Instant } from '../lib/time.ts'
import type { Home } from '../world/os/home.ts'
import { loopFolder, readLoop } from '../world/os/loop-file.ts'
import { readLive, readOne } from '../world/store/read.ts'
import { boardOf } from './board.ts'
import { Changes } from './changes.ts'
import { viewOf } from './session-view.ts'
import { readSession } from './sessions.ts'

/** Those who work for it, oldest first. */
export function workersOf({ id }: SessionView, sessions: readonly SessionView[]): SessionView[] {
  return sessions.filter(({ parent }) => parent === id).toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))
}

/** A loop's board from disk alone; undefined until it has looked at its list. */
export function readBoard(home: Home, session: SessionView, now: Instant): LoopView | undefined {
  const loop = readLoop(home, session.id)
  if (loop === undefined) return undefined
  const workers = readLive(home).filter(({ spec }) => spec.parent?.id === session.id)
  const phase = readOne(home, session.id)?.phase
  return boardOf(loop, session, now, {
    workers: new Map(workers.map(worker => [worker.spec.name, viewOf(worker, home)])),
    ...(phase?.name === 'blocked' && { stoppedAt: phase.since }),
  })
}

/** The board of a loop that has not written anything down yet: what it was asked for. */
export function readBeginning(home: Home, session: SessionView, now: Instant): LoopView {
  const argv = readOne(home, session.id)?.spec.argv ?? []
  const spec = JSON.parse(argv.at(-1) ?? '{}') as LoopSpec
  return boardOf(createLoop(spec, Date.parse(session.createdAt)), session, now)
}

/** A session and its board, now and after each change or second, until it has ended. */
export async function* watchBoard(
  home: Home,
  session: SessionView,
  signal: AbortSignal,
): AsyncGenerator<{ session: SessionView; board: LoopView | undefined }> {
  const changes = new Changes([loopFolder(home, session.id)])
  try {
    while (!signal.aborted) {
      const now = readSession(home, session.id)
      if (now === undefined) return
      yield { session: now, board: readBoard(home, now, Date.now()) }
      if (now.phase === 'ended') return
      await changes.next(signal)
    }
  } finally {
    changes.close()
  }
}
