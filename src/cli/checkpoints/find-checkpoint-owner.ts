import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import fs from 'node:fs'
import { Refusal } from '../../lib/errors.ts'
import type { SessionId } from '../../state/session-folder.ts'
import { findSavedSessions } from '../../views/saved-sessions.ts'
import { findLive } from '../../views/session-search.ts'
import { pickSession } from '../session/find-session.ts'
import { findSaved, otherMatchesNotice, refuseLocalSession, singleMatch } from './find-saved-session.ts'
import { type CommandContext, currentDirectory } from '../context.ts'

/** The owner of a checkpoint to restore: a session of this home or, if no home knows it, its refs in the repository. */
export interface CheckpointOwner {
  readonly name: string
  readonly id: SessionId
  readonly cwd: string
  readonly isLocal: boolean
  readonly push?: SessionView['push']
}

export async function findOwner(
  name: string | undefined,
  remote: string | undefined,
  context: CommandContext,
): Promise<CheckpointOwner> {
  if (remote !== undefined) return findSavedOwner(name, remote, context)
  try {
    const session = pickLocalSession(context, name)
    return (await findMovedProject(session, context)) ?? { ...session, isLocal: true }
  } catch (cause) {
    if (!(cause instanceof Refusal) || cause.code !== 'no-session' || name === undefined) throw cause
    return await findSavedOwner(name, undefined, context).catch(() => Promise.reject(cause))
  }
}

type PickedSession = Pick<SessionView, 'name' | 'id' | 'cwd' | 'push'>

function pickLocalSession(context: CommandContext, name: string | undefined): PickedSession {
  const { name: sessionName, id, cwd, push } = pickSession(context, name)
  return { name: sessionName, id, cwd, push }
}

/**
 * Finds a session whose folder is missing and whose checkpoints are in the current repository: its project was moved.
 */
async function findMovedProject(
  { name, id, cwd }: PickedSession,
  context: CommandContext,
): Promise<CheckpointOwner | null> {
  if (fs.existsSync(cwd)) return null
  const here = currentDirectory(context)
  const isHere = (await findSavedSessions(context.home, here)).some(({ sessionId }) => sessionId === id)
  return isHere ? { name, id, cwd: here, isLocal: false } : null
}

async function findSavedOwner(
  word: string | undefined,
  remote: string | undefined,
  context: CommandContext,
): Promise<CheckpointOwner> {
  const found = await findSaved(word, remote, context)
  if (found.length === 0 && remote !== undefined) refuseLocalSession(word, context.home, 'restore')
  const chosen = singleMatch(found, word, remote)
  const { err, isQuiet } = context.screen
  if (!isQuiet) for (const text of otherMatchesNotice(chosen, found)) err.printLine(text)
  return { name: chosen.name, id: chosen.sessionId, cwd: currentDirectory(context), isLocal: false }
}

/**
 * Refuses before any question if a session runs in the folder: a restore must not change files under a running agent.
 */
export function refuseWhileRunning(cwd: string, { home }: CommandContext): void {
  const running = findLive(home, { cwds: [cwd] }).find(session => !isIdle(session))
  if (running === undefined) return
  const { name } = running
  throw refusal('session-alive', `${name} is running in ${cwd}`, `oneshot hold ${name}, then try again`)
}

function isIdle({ phase, pid }: SessionView): boolean {
  return phase === 'resting' || (phase === 'blocked' && pid === null)
}
