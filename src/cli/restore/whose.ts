import fs from 'node:fs'
import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import { Refusal } from '../../lib/refusal.ts'
import { findKept } from '../../views/checkpoints.ts'
import { readSessions } from '../../views/sessions.ts'
import { isLive } from '../find-session.ts'
import { findMeant, only, othersThan, refuseKnown } from '../session/find-kept.ts'
import { pickSession } from '../session/pick-session.ts'
import { here, type Surroundings } from '../surroundings.ts'

/** Whose checkpoint is brought back: that of a session or, where nobody knows of one, what its repository keeps. */
export interface Whose {
  readonly name: string
  readonly id: string
  readonly cwd: string
  readonly isKnown: boolean
  readonly push?: SessionView['push']
}

export async function whose(
  name: string | undefined,
  remote: string | undefined,
  surroundings: Surroundings,
): Promise<Whose> {
  if (remote !== undefined) return kept(name, remote, surroundings)
  try {
    const session = pick(surroundings, name)
    return (await moved(session, surroundings)) ?? { ...session, isKnown: true }
  } catch (cause) {
    if (!(cause instanceof Refusal) || cause.code !== 'no-session' || name === undefined) throw cause
    return await kept(name, undefined, surroundings).catch(() => Promise.reject(cause))
  }
}

type Picked = Pick<SessionView, 'name' | 'id' | 'cwd' | 'push'>

function pick(surroundings: Surroundings, name: string | undefined): Picked {
  const { name: whole, id, cwd, push } = pickSession(surroundings, name)
  return { name: whole, id, cwd, push }
}

/** A session whose folder is gone, and whose checkpoints are in the repository that we are in: its project was moved. */
async function moved({ name, id, cwd }: Picked, { home }: Surroundings): Promise<Whose | null> {
  if (fs.existsSync(cwd)) return null
  const isHere = (await findKept(home, here())).some(({ sessionId }) => sessionId === id)
  return isHere ? { name, id, cwd: here(), isKnown: false } : null
}

async function kept(word: string | undefined, remote: string | undefined, surroundings: Surroundings): Promise<Whose> {
  const found = await findMeant(word, remote, surroundings)
  if (found.length === 0 && remote !== undefined) refuseKnown(word, readSessions(surroundings.home), 'restore')
  const one = only(found, word, remote)
  const { err, isQuiet } = surroundings.screen
  if (!isQuiet) for (const text of othersThan(one, found)) err.say(text)
  return { name: one.name, id: one.sessionId, cwd: here(), isKnown: false }
}

/** Before anybody is asked: nobody's files are taken from under their hands. */
export function assertStill(cwd: string, { home }: Surroundings): void {
  const atWork = readSessions(home).find(session => session.cwd === cwd && isLive(session) && !isIdle(session))
  if (atWork === undefined) return
  const { name } = atWork
  throw refusal('session-alive', `${name} is running in ${cwd}`, `oneshot hold ${name}, then try again`)
}

function isIdle({ phase, pid }: SessionView): boolean {
  return phase === 'resting' || (phase === 'blocked' && pid === null)
}
