import { chainOf } from './chain.ts'
import { nestedPlace, type Place } from './place.ts'
import { removeFolder } from './remove-folder.ts'
import { UPDATE_REF } from './ref.ts'
import { WORK_REFS } from './workshop/shop.ts'

/** Removes the refs of a session, here and in nested repositories, and the private indexes. git takes the objects some day. */
export async function forget(place: Place): Promise<void> {
  const chain = await chainOf(place).catch(() => []) // What is broken can be forgotten as well.
  const nested = new Set(chain.flatMap(({ telling }) => telling.nested.flatMap(one => (one.isNoted ? [] : [one.path]))))
  for (const path of nested) {
    const inside = await nestedPlace(place, path).catch(() => null) // It is gone, and its refs with it.
    if (inside !== null) await removeRefs(inside)
  }
  await removeRefs(place)
  removeFolder(place.folder)
}

/** Removes the refs of a session from this repository, and nothing else: what they lead to may be anybody's. */
export async function removeRefs({ git, ref, sessionId }: Pick<Place, 'git' | 'ref' | 'sessionId'>): Promise<void> {
  const names = [ref, `${ref}+*`, `${WORK_REFS}/${sessionId}`]
  const refs = (await git.run(['for-each-ref', '--format=delete %(refname)', ...names])).toString()
  if (refs !== '') await git.run([...UPDATE_REF, '--stdin'], { input: refs })
}
