import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import { Refusal } from '../../lib/refusal.ts'
import { readSessions } from '../../views/sessions.ts'
import { isLive } from '../find-session.ts'
import type { Line } from '../line/line.ts'
import { findMeant, only, othersThan } from '../session/find-kept.ts'
import { pickSession } from '../session/pick-session.ts'
import { here, type Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

/** Whose checkpoint is brought back: that of a session or, where nobody knows of one, what its repository keeps. */
export interface Whose {
  readonly name: string
  readonly id: string
  readonly cwd: string
  readonly isKnown: boolean
}

export async function whose(name: string | undefined, line: Line, surroundings: Surroundings): Promise<Whose> {
  const remote = line.value(OPTIONS.from)
  if (remote !== undefined) return kept(name, remote, surroundings)
  try {
    return { ...pick(surroundings, name), isKnown: true }
  } catch (cause) {
    if (!(cause instanceof Refusal) || cause.code !== 'no-session' || name === undefined) throw cause
    return await kept(name, undefined, surroundings).catch(() => Promise.reject(cause))
  }
}

function pick(surroundings: Surroundings, name: string | undefined): Pick<SessionView, 'name' | 'id' | 'cwd'> {
  const { name: whole, id, cwd } = pickSession(surroundings, name)
  return { name: whole, id, cwd }
}

async function kept(word: string | undefined, remote: string | undefined, surroundings: Surroundings): Promise<Whose> {
  const found = await findMeant(word, remote, surroundings)
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
  throw refusal('session-alive', `${name} is at work in ${cwd}`, `oneshot hold ${name}, then try again`)
}

function isIdle({ phase, pid }: SessionView): boolean {
  return phase === 'resting' || (phase === 'blocked' && pid === null)
}
