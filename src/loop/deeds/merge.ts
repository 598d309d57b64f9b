import type { Deed } from '../../core/loop/deeds.ts'
import type { LoopTask, Role } from '../../core/loop/loop.ts'
import { invariant } from '../../lib/trouble.ts'
import type { Bench, Workshop } from '../../ports/workshop.ts'
import type { Desk } from '../gear.ts'
import { runCheck } from './judge.ts'

type Merge = Extract<Deed, { type: 'merge' }>

/**
 * Brings a proven task into the integration branch, and has it proven there as well. What fails there is taken back: the branch
 * leads to nothing that was not proven.
 */
export async function merge({ task, role }: Merge, desk: Desk): Promise<void> {
  const { gear, loop, report } = desk
  const { workshop, layout } = gear
  const { tip } = loop()
  invariant(tip !== null, 'a loop with worktrees has no tip')
  if (tidy.get(workshop) !== tip) await workshop.rewind(layout.integration, tip)
  tidy.delete(workshop)
  const bench = await sealed(task, role, desk, tip)
  const merged = await workshop.merge(layout.integration, bench.branch, messageFor(task))
  const { key } = task.item
  if (merged.kind === 'conflict') {
    const reason = `it conflicts with what was merged before in ${merged.files.join(', ')}`
    return report({ type: 'task.clashed', task: key, files: merged.files, reason, detail: '' })
  }
  const isAlone = (task.place?.since.head ?? null) === tip && role === 'task'
  const check = isAlone
    ? null
    : await runCheck({ cwd: layout.within(layout.integration) }, `merge-${task.number}`, desk)
  if (desk.ending.aborted) return
  if (check !== null && !check.ok) {
    await workshop.rewind(layout.integration, tip)
    const reason = `together with what was merged before the check fails: ${check.how}`
    return report({ type: 'task.clashed', task: key, files: [], reason, detail: check.tail })
  }
  const now = await tick(task, merged.commit, desk)
  if (check === null) tidy.set(workshop, now)
  report({ type: 'task.merged', task: key, tip: now })
}

/**
 * Where the integration branch is known to be with nothing beside it. Checks leave things behind, and one before us may have been
 * killed over a merge that was not proven yet.
 */
const tidy = new WeakMap<Workshop, string>()

/** All of it committed, but for the list, which is ours. */
async function sealed(task: LoopTask, role: Role, { gear }: Desk, tip: string): Promise<Bench> {
  const { workshop, layout, source } = gear
  const place = role === 'resolve' ? task.resolution : task.place
  invariant(place?.branch != null, `task ${task.item.label} has no branch`)
  const bench = role === 'resolve' ? { path: layout.topOf(place.cwd), branch: place.branch } : layout.task(task)
  const apart = source.file === null ? [] : [source.file]
  await workshop.seal(bench, messageFor(task), apart, role === 'resolve' ? tip : (place.since.head ?? tip))
  return bench
}

function messageFor({ item }: LoopTask): string {
  return `${item.title}\n\nTask ${item.label}, done and checked by itself.`
}

/** Ticks its box where the list is part of what is merged; answers where the branch stands then. */
async function tick({ item }: LoopTask, commit: string, { gear, loop, ending }: Desk): Promise<string> {
  const { workshop, layout, source } = gear
  if (loop().marking !== 'merge' || source.file === null) return commit
  await source.mark(layout.within(layout.integration), [{ key: item.key, isDone: true, reason: 'merged' }], ending)
  return workshop.commit(layout.integration, [layout.listIn(source.file)], `Tick task ${item.label}: ${item.title}`)
}
