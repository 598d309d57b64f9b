import type { LoopTask } from '../../core/loop/loop.ts'
import type { Bench } from '../../ports/workshop.ts'
import type { Desk } from '../gear.ts'

/** Removes the worktrees of a task that is merged, unless something in them is nowhere else. */
export async function clear(task: LoopTask, { gear, loop, report }: Desk): Promise<void> {
  const { self, workshop, layout } = gear
  const { branch } = loop()
  const benches = [task.place, task.resolution].flatMap((place): Bench[] =>
    place === null || place.branch === null ? [] : [{ path: layout.topOf(place.cwd), branch: place.branch }],
  )
  const notes: string[] = []
  for (const bench of benches) {
    const cleared = await workshop.clear(self.cwd, bench, branch ?? 'HEAD')
    if (cleared.kind === 'kept') notes.push(`${bench.path} is kept: ${cleared.reason}`)
  }
  report({ type: 'task.cleared', task: task.item.key, note: notes.length === 0 ? null : notes.join('; ') })
}
