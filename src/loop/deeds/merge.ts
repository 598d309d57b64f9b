import path from 'node:path'
import type { Deed } from '../../core/loop/deeds.ts'
import type { LoopTask, Role } from '../../core/loop/loop.ts'
import { invariant } from '../../lib/trouble.ts'
import type { Bench, Merged, Workshop } from '../../ports/workshop.ts'
import type { Desk, Gear } from '../gear.ts'
import { isMarked, runCheck } from './judge.ts'

type Merge = Extract<Deed, { type: 'merge' }>

/**
 * Brings a proven task into the integration branch, and has it proven there as well. What fails there is taken back: the branch
 * leads to nothing that was not proven.
 */
export async function merge(deed: Merge, desk: Desk): Promise<void> {
  const { gear, loop, report } = desk
  const { workshop, layout } = gear
  const { task } = deed
  const { key } = task.item
  const { tip } = loop()
  invariant(tip !== null, 'a loop with worktrees has no tip')
  if (tidy.get(workshop) !== tip) await workshop.rewind(layout.integration, tip)
  tidy.delete(workshop)
  const role = deed.role === 'resolve' && !isResolved(task, gear) ? 'task' : deed.role
  const bench = await sealed(task, role, desk, tip)
  const isAlone = role === 'task' && (await isAsJudged(task, bench, tip, gear))
  const merged = await mergeWhole(task, bench, gear)
  if (merged.kind === 'conflict') {
    await workshop.rewind(layout.integration, tip)
    const reason = `it conflicts with what was merged before in ${merged.files.join(', ')}`
    return report({ type: 'task.clashed', task: key, files: merged.files, reason, detail: '' })
  }
  const at = { cwd: layout.within(layout.integration) }
  const check = isAlone ? null : await runCheck(at, `merge-${task.number}`, desk)
  if (desk.ending.aborted) return
  if (check !== null && !check.ok) {
    await workshop.rewind(layout.integration, tip)
    const reason = `together with what was merged before the check fails: ${check.how}`
    return report({ type: 'task.clashed', task: key, files: [], reason, detail: check.tail })
  }
  const { commit, isTicked } = await tick(task, merged.commit, desk)
  if (check === null) tidy.set(workshop, commit)
  report({ type: 'task.merged', task: key, tip: commit, isTicked })
}

/**
 * Where the integration branch is known to be with nothing beside it. Checks leave things behind, and one before us may have been
 * killed over a merge that was not proven yet.
 */
const tidy = new WeakMap<Workshop, string>()

/** No mark of a conflict is left where there was one. */
function isResolved({ clash, resolution }: LoopTask, { layout }: Gear): boolean {
  return resolution !== null && !clash.some(file => isMarked(path.join(layout.topOf(resolution.cwd), file)))
}

/** What was checked is what is merged, and nothing but that is there then: it need not be checked twice. */
async function isAsJudged(
  { place, evidence }: LoopTask,
  bench: Bench,
  tip: string,
  { spec, workshop }: Gear,
): Promise<boolean> {
  if (place?.since.head !== tip) return false
  if (spec.check === null && spec.seek !== true) return true
  return (await workshop.snapshot(bench.path)).tree === evidence?.now.tree
}

/** Whoever brings two sides together may leave one out: what the task itself has made must be in it. */
async function mergeWhole(task: LoopTask, bench: Bench, { workshop, layout }: Gear): Promise<Merged> {
  const merged = await workshop.merge(layout.integration, bench.branch, messageFor(task))
  const { branch } = layout.task(task)
  if (merged.kind === 'conflict' || bench.branch === branch) return merged
  return workshop.merge(layout.integration, branch, messageFor(task))
}

/** All of it committed, but for the list, which is ours. */
async function sealed(task: LoopTask, role: Role, { gear }: Desk, tip: string): Promise<Bench> {
  const { workshop, layout } = gear
  const place = role === 'resolve' ? task.resolution : task.place
  invariant(place !== null && place.branch !== null, `task ${task.item.label} has no branch`)
  const bench = role === 'resolve' ? { path: layout.topOf(place.cwd), branch: place.branch } : layout.task(task)
  const apart = gear.apart.map(file => layout.listIn(file))
  await workshop.seal(bench, messageFor(task), apart, role === 'resolve' ? tip : (place.since.head ?? tip))
  return bench
}

function messageFor({ item }: LoopTask): string {
  return `${item.title}\n\nTask ${item.label}, done and checked by itself.`
}

/** Ticks its box where the list is part of what is merged; answers where the branch stands then. A box that is new since is not there. */
async function tick(
  { item }: LoopTask,
  commit: string,
  { gear, loop, ending }: Desk,
): Promise<{ commit: string; isTicked: boolean }> {
  const { workshop, layout, source } = gear
  if (loop().marking !== 'merge' || source.file === null) return { commit, isTicked: false }
  const cwd = layout.within(layout.integration)
  await source.mark(cwd, [{ key: item.key, isDone: true, reason: 'merged' }], ending)
  const message = `Tick task ${item.label}: ${item.title}`
  const ticked = await workshop.commit(layout.integration, [layout.listIn(source.file)], message)
  const { items } = await source.read(cwd, ending)
  return { commit: ticked, isTicked: items.some(({ key, isDone }) => key === item.key && isDone) }
}
