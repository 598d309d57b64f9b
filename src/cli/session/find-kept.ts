import { refusal } from '../../api/contract/problems.ts'
import { fetchKept, findKept } from '../../views/checkpoints.ts'
import { here, type Surroundings } from '../surroundings.ts'

/** A session of which something is kept in this repository, whoever knows of it. */
export interface Kept {
  readonly name: string
  readonly sessionId: string
  /** Of its newest checkpoint. */
  readonly at: string
  /** Whether there is more than files: what a session needs to go on. */
  readonly isResumable: boolean
}

/** All that a word may mean, the newest first; with a remote, after what is there was fetched. */
export async function findMeant(
  word: string | undefined,
  remote: string | undefined,
  { home, env }: Surroundings,
): Promise<readonly Kept[]> {
  const cwd = here()
  if (remote !== undefined) await fetchKept(home, cwd, { remote, name: null }, env)
  return meant(await findKept(home, cwd, null), word)
}

/** A whole name or task counts more than the beginning of one. */
export function meant<K extends Kept>(all: readonly K[], word: string | undefined): readonly K[] {
  if (word === undefined) return all
  const ways: ((kept: Kept) => boolean)[] = [
    ({ name, sessionId }) => name === word || sessionId === word,
    ({ name }) => taskIn(name) === word,
    ({ name }) => word !== '' && (name.startsWith(word) || taskIn(name).startsWith(word)),
  ]
  return ways.map(way => all.filter(way)).find(found => found.length > 0) ?? []
}

/** The one of a single name that is newest. */
export function only(found: readonly Kept[], word: string | undefined, remote: string | undefined): Kept {
  const names = [...new Set(found.map(({ name }) => name))]
  const [first] = found
  const where = remote === undefined ? 'in this repository' : `on ${remote}`
  if (first === undefined)
    throw refusal(
      'no-session',
      `nothing of ${word ?? 'any session'} is kept ${where}`,
      remote === undefined ? 'oneshot list' : `what is there: git ls-remote ${remote} 'refs/oneshot/*'`,
    )
  if (names.length > 1)
    throw refusal(
      'session-ambiguous',
      `${names.length} sessions are kept ${where}: ${names.slice(0, 8).join(', ')}`,
      'name one of them',
    )
  return first
}

/** Told where several machines have worked under one name. */
export function othersThan({ name, at }: Kept, found: readonly Kept[]): string[] {
  const others = found.length - 1
  if (others < 1) return []
  const ids = found.slice(1, 4).map(({ sessionId }) => sessionId)
  return [
    `${name} is kept ${others + 1} times; this is the newest, of ${at}; by id the others can be named: ${ids.join(', ')}`,
  ]
}

function taskIn(name: string): string {
  return name.slice(name.indexOf('-') + 1)
}
