import type { LoopTask } from '../../core/loop/loop.ts'
import type { Bench } from '../../ports/workshop.ts'
import type { Desk, Gear } from '../gear.ts'

/** Removes the worktrees of a task that is merged, unless something in them is nowhere else. */
export async function clear(task: LoopTask, desk: Desk): Promise<void> {
  const { gear, loop, report } = desk
  const { self, workshop, layout } = gear
  const { branch, tip } = loop()
  if (branch !== null && tip !== null) await workshop.mend(self.cwd, layout.integration, tip)
  const benches = [task.place, task.resolution].flatMap((place): Bench[] =>
    place === null || place.branch === null ? [] : [{ path: layout.topOf(place.cwd), branch: place.branch }],
  )
  const notes: string[] = []
  for (const bench of benches) {
    const cleared = await workshop.clear(self.cwd, bench, branch ?? 'HEAD')
    if (cleared.kind === 'gone') continue
    if (cleared.isDirty === true && (await isCleared(bench, desk))) notes.push(...(await cameLater(task, bench, gear)))
    else notes.push(`${bench.path} is kept: ${cleared.reason}`)
  }
  report({ type: 'task.cleared', task: task.item.key, note: notes.length === 0 ? null : notes.join('; ') })
}

/** Keeps files by a ref that came into the worktree after its work was judged, by the check for one, and clears it then. */
async function isCleared(bench: Bench, { gear, loop }: Desk): Promise<boolean> {
  const { workshop, self } = gear
  await workshop.rewind(bench, `refs/heads/${bench.branch}`)
  return (await workshop.clear(self.cwd, bench, loop().branch ?? 'HEAD')).kind === 'gone'
}

/** Nothing is told where all of it is in what was merged. */
async function cameLater({ item }: LoopTask, { branch }: Bench, { workshop, self }: Gear): Promise<string[]> {
  const ref = `refs/oneshot-loop/kept/${branch.replaceAll('/', '+')}`
  const [kept] = await workshop.changes(self.cwd, [[ref, ref]])
  if (!kept) return []
  return [
    `the loop did not merge files that appeared in the worktree of task ${item.label} after its check: git show ${ref}`,
  ]
}
