import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import { commandLine } from '../../lib/quote.ts'
import { withoutLogin } from '../../lib/without-login.ts'
import { fetchKept, findKept, type KeptView } from '../../views/checkpoints.ts'
import { readSessions } from '../../views/sessions.ts'
import { isResumable } from '../../views/way-on.ts'
import { here, type Surroundings } from '../surroundings.ts'

/** A session of which something is kept in this repository, whoever knows of it. */
export interface Kept extends KeptView {
  /** Whether a remote has something else of it, which was not fetched. */
  readonly isDiverged?: true
}

type Fetched = Awaited<ReturnType<typeof fetchKept>>

/**
 * All that a word may mean, the newest first; with a remote, after what is there was fetched. Sessions of this home are never
 * fetched: theirs are here.
 */
export async function findMeant(
  word: string | undefined,
  remote: string | undefined,
  { home, env }: Surroundings,
  onFetched: (fetched: Fetched) => void = () => undefined,
): Promise<readonly Kept[]> {
  const cwd = here()
  if (remote === undefined) return meant(await findKept(home, cwd), word)
  const own = new Set(readSessions(home).map(({ id }) => id))
  const choose = <K extends Named>(all: readonly K[]): readonly K[] =>
    meant(all, word).filter(({ sessionId }) => !own.has(sessionId))
  const fetched = await fetchKept(home, cwd, { remote, choose }, env)
  onFetched(fetched)
  const diverged = new Set(fetched.diverged.map(({ sessionId }) => sessionId))
  const found = meant(await findKept(home, cwd), word)
  return found.map(kept => (diverged.has(kept.sessionId) ? { ...kept, isDiverged: true } : kept))
}

type Named = Pick<Kept, 'name' | 'sessionId'>

/** A whole name or task counts more than the beginning of one. */
export function meant<K extends Named>(all: readonly K[], word: string | undefined): readonly K[] {
  if (word === undefined) return all
  const ways: ((kept: Named) => boolean)[] = [
    ({ name, sessionId }) => name === word || sessionId === word,
    ({ name }) => taskIn(name) === word,
    ({ name }) => word !== '' && (name.startsWith(word) || taskIn(name).startsWith(word)),
  ]
  return ways.map(way => all.filter(way)).find(found => found.length > 0) ?? []
}

/** It is not fetched: it is here. */
export function refuseKnown(word: string | undefined, known: readonly SessionView[], wish: 'resume' | 'restore'): void {
  const [found] =
    word === undefined
      ? []
      : meant(
          known.map(view => ({ ...view, sessionId: view.id })),
          word,
        )
  if (found === undefined) return
  const { name, cwd } = found
  const verb = wish === 'resume' && !isResumable(found) ? 'status' : wish
  throw refusal('cannot-restore', `${name} is a session of this machine, in ${cwd}`, `oneshot ${verb} ${name}`)
}

/** The one of a single name that is newest. */
export function only(found: readonly Kept[], word: string | undefined, from: string | undefined): Kept {
  const remote = from === undefined ? undefined : withoutLogin(from)
  const names = [...new Set(found.map(({ name }) => name))]
  const [first] = found
  const where = remote === undefined ? 'in this repository' : `on ${remote}`
  if (first === undefined)
    throw refusal(
      'no-session',
      `there are no checkpoints of ${word ?? 'any session'} ${where}`,
      remote === undefined ? 'oneshot list' : `what is there: git ls-remote ${remote} 'refs/oneshot/*'`,
    )
  if (names.length > 1)
    throw refusal(
      'session-ambiguous',
      `there are checkpoints of ${names.length} sessions ${where}: ${names.slice(0, 8).join(', ')}`,
      'name one of them',
    )
  if (first.isDiverged === true)
    throw refusal(
      'cannot-restore',
      `refs/oneshot/${first.name}/${first.sessionId} of this repository is not what ${remote} has`,
      `to delete the local copy: ${commandLine(['oneshot', 'clean', '--checkpoints', first.sessionId])}, then try again`,
    )
  return first
}

/** Told where several machines have worked under one name. */
export function othersThan({ name, at }: Kept, found: readonly Kept[]): string[] {
  const others = found.length - 1
  if (others < 1) return []
  const ids = found.slice(1, 4).map(({ sessionId }) => sessionId)
  return [
    `there are ${others + 1} sessions called ${name}; this is the newest, of ${at}; name the others by id: ${ids.join(', ')}`,
  ]
}

function taskIn(name: string): string {
  return name.slice(name.indexOf('-') + 1)
}
