import path from 'node:path'
import type { Deed } from '../../core/loop/deeds.ts'
import { isExcused } from '../../core/loop/first-check.ts'
import { type LoopTask, proofOf, type Role } from '../../core/loop/loop.ts'
import { few } from '../../core/loop/losses.ts'
import { invariant, Trouble } from '../../lib/trouble.ts'
import type { Bench, Merged, Workshop } from '../../ports/workshop.ts'
import type { Desk, Gear } from '../gear.ts'
import { isMarked, runCheck } from './judge.ts'

type Merge = Extract<Deed, { type: 'merge' }>

/**
 * Brings a proven task into the integration branch, and has it proven there as well. What fails there is taken back: the branch
 * leads to nothing that was not proven.
 */
export async function merge(deed: Merge, desk: Desk): Promise<void> {
  for (let chances = CHANCES; ; chances--) {
    try {
      return await mergeOnce(deed, desk)
    } catch (cause) {
      const isHurt = cause instanceof Trouble && chances > 0 && (await mend(deed, desk))
      if (!isHurt) throw cause
    }
  }
}

/** Agents of other tasks may remove the branch or the worktree under our hands: then it is begun again. */
const CHANCES = 2

/** Makes anew what was removed of the branches and worktrees that are needed; false where all of it was there. */
async function mend({ task, role }: Merge, { gear, loop }: Desk): Promise<boolean> {
  const { workshop, layout, self } = gear
  const { tip } = loop()
  const place = role === 'resolve' ? task.resolution : task.place
  const benches = [
    { bench: layout.integration, commit: tip },
    { bench: { path: layout.topOf(place?.cwd ?? ''), branch: place?.branch ?? '' }, commit: place?.since.head ?? null },
  ]
  let isMended = false
  for (const { bench, commit } of benches) {
    if (commit === null || bench.branch === '') continue
    if ((await workshop.mend(self.cwd, bench, commit)) !== null) isMended = true
  }
  return isMended
}

async function mergeOnce(deed: Merge, desk: Desk): Promise<void> {
  const { gear, loop, report } = desk
  const { workshop, layout } = gear
  const { task } = deed
  const { key } = task.item
  const { tip } = loop()
  invariant(tip !== null, 'a loop with worktrees has no tip')
  const { self } = gear
  if (await mend(deed, desk)) tidy.delete(workshop)
  if (tidy.get(workshop) !== tip) await workshop.rewind(layout.integration, tip)
  tidy.delete(workshop)
  const role = deed.role === 'resolve' && !isResolved(task, gear) ? 'task' : deed.role
  const { bench, judged } = await sealed(task, role, desk, tip)
  const isAlone = role === 'task' && (await isAsJudged(task, bench, tip, gear))
  const merged = await mergeWhole(task, { role, judged, tip }, gear)
  const clashed = { type: 'task.clashed', task: key, commit: judged, files: [], detail: '' } as const
  if (merged.kind === 'conflict') {
    await workshop.rewind(layout.integration, tip)
    const reason = `it conflicts with work already merged in ${merged.files.join(', ')}`
    return report({ ...clashed, files: merged.files, reason })
  }
  const [changes] = await workshop.changes(self.cwd, [[tip, merged.commit]])
  const { losses, thinned } = await gear.audit.ofChanges(loop(), {
    changes: changes ?? [],
    pair: [tip, merged.commit],
    at: { cwd: layout.within(layout.integration), branch: layout.integration.branch },
  })
  if (losses.length > 0) {
    await workshop.rewind(layout.integration, tip)
    const reason = `merging it would remove finished work: ${losses.map(({ what }) => what).join('; ')}`
    return report({ ...clashed, reason })
  }
  const at = { cwd: layout.within(layout.integration) }
  const check = isAlone ? null : await runCheck(at, `merge-${task.number}`, desk)
  if (desk.ending.aborted) return
  if (check !== null && !check.ok && !isExcused(loop(), check)) {
    await workshop.rewind(layout.integration, tip)
    const reason = `the check fails together with the work already merged: ${check.how}`
    return report({ ...clashed, reason, detail: check.tail })
  }
  const { commit, isTicked } = await tick(task, merged.commit, desk)
  if (check === null) tidy.set(workshop, commit)
  await workshop.keep(self.cwd, `${self.id}/tip`, commit)
  const notes = [
    ...thinned.map(what => `since task ${task.item.label} was merged, ${what}`),
    ...(changes?.length === 0 && !isByHand(task) ? [nothingNew(task)] : []),
  ]
  report({ type: 'task.merged', task: key, tip: commit, isTicked, notes })
}

/** Two agents at work at the same time may take each other's files: nobody knows which of them made these. */
function nothingNew({ item, evidence }: LoopTask): string {
  const files = few(evidence?.files ?? [])
  return `task ${item.label} changed nothing that was not merged before: ${files} came with another task as well`
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
  { place, evidence, stand }: LoopTask,
  bench: Bench,
  tip: string,
  { spec, workshop }: Gear,
): Promise<boolean> {
  if (place?.since.head !== tip || isByHand({ stand })) return false
  if (spec.check === null && spec.seek !== true) return true
  return (await workshop.snapshot(bench.path)).tree === evidence?.now.tree
}

/** Whoever brings two sides together may leave one out: what the task itself has made must be in it. */
async function mergeWhole(
  task: LoopTask,
  { role, judged, tip }: { role: Role; judged: string; tip: string },
  gear: Gear,
): Promise<Exclude<Merged, { kind: 'moved' }>> {
  const merged = await mergeOnto(task, judged, tip, gear)
  if (merged.kind === 'conflict' || role === 'task') return merged
  return mergeOnto(task, task.sealed ?? gear.layout.task(task).branch, merged.commit, gear)
}

/** An agent may have committed to the branch of the loop: that goes, and is kept beside. */
async function mergeOnto(
  task: LoopTask,
  commit: string,
  tip: string,
  { workshop, layout }: Gear,
): Promise<Exclude<Merged, { kind: 'moved' }>> {
  for (let chances = CHANCES; ; chances--) {
    const merged = await workshop.merge(layout.integration, commit, messageFor(task), tip)
    if (merged.kind !== 'moved') return merged
    if (chances === 0)
      throw new Trouble('merging', `another process keeps moving ${layout.integration.branch}`, {
        mayHelpToRetry: true,
      })
    await workshop.rewind(layout.integration, tip)
  }
}

function isByHand({ stand }: Pick<LoopTask, 'stand'>): boolean {
  return stand.name === 'merging' && stand.isByHand === true
}

/** What was judged as a commit, but for the list, which is ours. What came since is not merged. */
async function sealed(
  task: LoopTask,
  role: Role,
  { gear }: Desk,
  tip: string,
): Promise<{ bench: Bench; judged: string }> {
  const { workshop, layout } = gear
  const place = role === 'resolve' ? task.resolution : task.place
  invariant(place !== null && place.branch !== null, `task ${task.item.label} has no branch`)
  const bench = role === 'resolve' ? { path: layout.topOf(place.cwd), branch: place.branch } : layout.task(task)
  const apart = gear.apart.map(file => layout.listIn(file))
  const base = role === 'resolve' ? tip : (place.since.head ?? tip)
  const isJudged = !isByHand(task) && task.tries.at(-1)?.role === role
  if (!isJudged && !isByHand(task) && role === 'task' && task.sealed !== undefined)
    return { bench, judged: task.sealed }
  const seen = isJudged ? task.evidence?.now : undefined
  return { bench, judged: await workshop.seal(bench, messageFor(task), apart, base, seen) }
}

function messageFor(task: LoopTask): string {
  const { title, label } = task.item
  return `${title}\n\nTask ${label}: ${proofOf(task) === 'checked' ? 'its check passed' : 'not tested'}.`
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
  const ticked = await workshop.commit(layout.integration, [layout.listIn(source.file)], message, commit)
  const { items } = await source.read(cwd, ending)
  return { commit: ticked, isTicked: items.some(({ key, isDone }) => key === item.key && isDone) }
}
