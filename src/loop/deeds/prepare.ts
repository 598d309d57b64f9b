import path from 'node:path'
import type { Deed } from '../../core/loop/deeds.ts'
import type { LoopTask } from '../../core/loop/loop.ts'
import { invariant, Trouble } from '../../lib/trouble.ts'
import type { Bench } from '../../ports/workshop.ts'
import type { Desk } from '../gear.ts'

type Prepare = Extract<Deed, { type: 'prepare' }>

/** Makes ready where a task is worked on. One that was worked on before goes on where it was. */
export async function prepare({ task, role }: Prepare, desk: Desk): Promise<void> {
  const { gear, loop, report } = desk
  const { spec, workshop, layout, self } = gear
  const { key } = task.item
  await gear.refs.begin()
  if (spec.parallel === null) {
    if (task.place !== null) return report({ type: 'place.ready', task: key, place: task.place, clash: [] })
    const since = await workshop.snapshot(self.cwd)
    if (task.undone !== undefined && (await gear.audit.isBack(task.undone, task.kept ?? [], since.tree)))
      return report({ type: 'task.regained', task: key })
    const { losses, thinned } = await gear.audit.since(loop(), since.tree)
    const place = { cwd: self.cwd, branch: null, since }
    return report({ type: 'place.ready', task: key, place, clash: [], losses, notes: thinned })
  }
  const { tip } = loop()
  invariant(tip !== null, 'a loop with worktrees has no tip')
  const all = await workshop.mend(self.cwd, layout.integration, tip)
  const notes =
    all === null
      ? []
      : [`the ${all} ${layout.integration[all === 'folder' ? 'path' : 'branch']} was removed; the loop makes a new one`]
  await gear.watch.begin(loop())
  const bench = role === 'resolve' ? layout.resolution(task) : layout.task(task)
  const from = role === 'resolve' ? tip : (task.place?.since.head ?? tip)
  if (role === 'task' && task.place !== null) await workshop.mend(self.cwd, bench, from)
  await workshop.open(self.cwd, bench, from)
  await setUp(task, bench, desk)
  const clash = role === 'resolve' ? await workshop.clash(bench, task.sealed ?? layout.task(task).branch) : []
  const place = { cwd: layout.within(bench), branch: bench.branch, since: { head: from, tree: `${from}^{tree}` } }
  report({ type: 'place.ready', task: key, place, clash, notes })
}

async function setUp(task: LoopTask, bench: Bench, { gear, ending }: Desk): Promise<void> {
  const { spec, checks, env, layout } = gear
  if (spec.setup === null) return
  const log = path.join(gear.logs, `setup-${task.number}.log`)
  const check = { line: spec.setup, why: 'as asked' }
  const { ok, how, tail } = await checks.run(
    check,
    { cwd: layout.within(bench), env, log, limit: spec.checkLimit },
    ending,
  )
  if (!ok)
    throw new Trouble('setting up a worktree', [how, tail.trim().split('\n').at(-1)].join(': '), {
      mayHelpToRetry: false,
    })
}
