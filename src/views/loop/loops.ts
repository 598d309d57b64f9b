import type { LoopView } from '../../api/contract/loop-view.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import { createLoop } from '../../core/loop/loop-state.ts'
import { parseLoopPlace, parseLoopSpec } from '../../core/loop/spec.ts'
import type { Instant } from '../../lib/time.ts'
import type { Home } from '../../state/home.ts'
import { loopFolder, readLoop } from '../../state/loop-file.ts'
import { readLiveSessions, readStoredSession } from '../../world/store/reader.ts'
import { createBoard } from './board.ts'
import { FileWatcher } from '../../os/files/file-watcher.ts'
import { toSessionView } from '../session-view.ts'
import { readSession } from '../sessions.ts'
import fs from 'node:fs'
import { LOOP_KINDS } from '../../api/contract/known-agents.ts'
import type { Session, Spec } from '../../core/session/session-state.ts'
import { listFoldersToRoot } from '../../os/files/project-root.ts'

/** Reads a loop's board from disk alone; undefined until the loop has read its list. */
export function readBoard(home: Home, session: SessionView, now: Instant): LoopView | undefined {
  const loop = readLoop(home, session.id)
  if (loop === undefined) return undefined
  const workers = readLiveSessions(home).filter(({ spec }) => spec.parent?.id === session.id)
  const phase = readStoredSession(home, session.id)?.phase
  return createBoard(loop, session, now, {
    workers: new Map(workers.map(worker => [worker.spec.name, toSessionView(worker, home)])),
    ...(phase?.name === 'blocked' && { stoppedAt: phase.since }),
  })
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

/** Finds a serial loop in the same checkout: nobody could attribute the changes there to one of the two. */
export function findOtherSerialLoop(
  requested: Pick<Spec, 'agent' | 'cwd' | 'argv'>,
  sessions: readonly Session[],
): Session | undefined {
  return isSerial(requested) ? findSerialLoop(requested.cwd, sessions) : undefined
}

/** Finds the serial loop that works in the checkout around this folder. */
export function findSerialLoop(cwd: string, sessions: readonly Session[]): Session | undefined {
  const root = checkoutRoot(cwd)
  return sessions.find(
    ({ spec, phase }) =>
      !['ended', 'blocked'].includes(phase.name) && isSerial(spec) && checkoutRoot(spec.cwd) === root,
  )
}

/** Describes the user's options. */
export function describeAlternatives(name: string): string {
  return `wait for it: oneshot wait ${name}; or stop it: oneshot stop ${name}; or work in worktrees: --parallel`
}

function isSerial({ agent, argv }: Pick<Spec, 'agent' | 'argv'>): boolean {
  if (!LOOP_KINDS.includes(agent)) return false
  return parseLoopPlace(argv).parallel === null
}

function checkoutRoot(cwd: string): string {
  try {
    return listFoldersToRoot(fs.realpathSync(cwd)).at(-1) ?? cwd
  } catch {
    return cwd // The folder is gone, and with it the checkout.
  }
}
