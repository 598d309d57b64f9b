import type { Git } from '../git.ts'
import { UPDATE_REF } from '../ref.ts'
import { objectsAt, WORK_REFS } from './shop.ts'

/** Keeps a commit from being collected as garbage. */
export async function keepCommit(git: Git, name: string, commit: string): Promise<void> {
  await git.run([...UPDATE_REF, `${WORK_REFS}/${name}`, commit])
}

/** The same for refs that somebody has deleted or moved; those whose objects are gone are left out. */
export async function keepRefs(git: Git, name: string, refs: ReadonlyMap<string, string>): Promise<void> {
  const all = [...refs]
  const there = await objectsAt(
    git,
    all.map(([, id]) => id),
  )
  const lines = all.flatMap(([ref, id], n) =>
    there[n] === null ? [] : [`update ${WORK_REFS}/${name}/${ref.slice('refs/'.length)}\0${id}\0\0`],
  )
  const input = Buffer.from(lines.join(''), 'latin1')
  if (lines.length > 0) await git.run([...UPDATE_REF, '--stdin', '-z'], { input })
}
