import type { Sighting } from '../../core/loop/evidence.ts'
import { few } from '../../core/loop/losses.ts'
import { commitAgain, short } from '../../core/loop/restore-command.ts'
import { shown } from '../../lib/raw-path.ts'
import type { Work } from './work.ts'

/**
 * Names finished tasks whose commits an agent took off the branch while their files stayed, as `git reset --soft` does: nothing but the
 * files in the checkout is left of that work. Costs a question to git only where files that were committed are not any more.
 */
export async function uncommittedIn(
  works: readonly Work[],
  seen: Pick<Sighting, 'changed' | 'loose'>,
  { isTop, droppedOf }: { isTop: boolean; droppedOf: (commits: readonly string[]) => Promise<readonly string[]> },
): Promise<readonly string[]> {
  const edited = new Set(seen.changed.map(({ path }) => path))
  const told: string[] = []
  for (const { task, files } of works) {
    const { commits = [], uncommitted = 1 } = task?.evidence ?? {}
    if (task === null || commits.length === 0 || uncommitted > 0) continue
    const left = files.filter(({ path, after }) => after !== null && seen.loose.has(path) && !edited.has(path))
    const ids = left.length === 0 ? [] : await droppedOf(commits.map(({ id }) => id))
    if (ids.length === 0) continue
    const paths = left.map(({ path }) => path)
    const which = ids.length === 1 ? `commit ${short(ids[0] ?? '')}` : `commits ${few(ids.map(short))}`
    const names = `${few(paths.map(shown))} ${paths.length === 1 ? 'is' : 'are'}`
    told.push(
      `${which} of task ${task.item.label} ${ids.length === 1 ? 'is' : 'are'} no longer on the branch, and ${names} not committed; \`${commitAgain(paths, isTop)}\` commits it again`,
    )
  }
  return told
}
