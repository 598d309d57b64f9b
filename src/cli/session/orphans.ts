import { findKept, forgetKept, type KeptView } from '../../views/checkpoints.ts'
import { readSessions } from '../../views/sessions.ts'
import { here, type Surroundings } from '../surroundings.ts'

/** What this repository keeps of sessions that this home does not know: cleaned ones, and those of other machines. */
export async function findOrphans({ home }: Surroundings): Promise<KeptView[]> {
  const own = new Set(readSessions(home).map(({ id }) => id))
  return (await findKept(home, here())).filter(({ sessionId }) => !own.has(sessionId))
}

/** Those that are called so, by name or id; a name that a session of this home has means that one. */
export async function orphansCalled(words: readonly string[], surroundings: Surroundings): Promise<KeptView[]> {
  const own = new Set(readSessions(surroundings.home).flatMap(({ name, task }) => [name, task]))
  const isMeant = ({ name, sessionId }: KeptView): boolean =>
    words.includes(sessionId) || (words.includes(name) && !own.has(name))
  return (await findOrphans(surroundings)).filter(isMeant)
}

export async function removeOrphans(orphans: readonly KeptView[], { home }: Surroundings): Promise<void> {
  for (const { name, sessionId } of orphans) await forgetKept(home, here(), { name, sessionId })
}
