import fs from 'node:fs'
import path from 'node:path'
import type { Deed } from '../../core/loop/deeds.ts'
import { taskOf } from '../../core/loop/change.ts'
import { type ChangedFile, type Evidence, hasWork, type Sighting } from '../../core/loop/evidence.ts'
import type { LoopTask, Place } from '../../core/loop/loop.ts'
import type { Loss } from '../../core/loop/losses.ts'
import { invariant } from '../../lib/trouble.ts'
import type { CheckResult } from '../../ports/checks.ts'
import type { Desk } from '../gear.ts'
import { comeBack } from '../audit/come-back.ts'
import { readListLeft } from '../read-list.ts'
import { traceOf } from './tend.ts'
import { weakeningsIn } from '../weakenings-in.ts'

type Judge = Extract<Deed, { type: 'judge' }>

/** Gathers what there is to see of an iteration. What is known to be no good is not checked. */
export async function judge({ task, role, iteration }: Judge, desk: Desk): Promise<void> {
  const { gear, report, ending } = desk
  const { workshop } = gear
  const place = role === 'resolve' ? task.resolution : task.place
  invariant(place !== null, `task ${task.item.label} was worked on nowhere`)
  const came = await comeBack(desk, task)
  if (came.kind === 'lost') return report({ type: 'loop.impossible', reason: came.why })
  const trace = await traceOf(task, gear)
  const beside = await besides(desk, task, place, trace)
  const notes = [...(await gear.refs.look(task, trace)), ...beside.notes]
  // A worktree is its agent's alone.
  const worker = place.branch === null && trace !== null ? { trace, since: task.tries[0]?.since ?? 0 } : null
  const keepAs = `${gear.self.id}/${task.number}`
  // A task whose work was lost may bring that back.
  const begunAt = (task.reopened ?? 0) > 0 ? desk.loop().createdAt : (task.tries[0]?.since ?? 0)
  const branch = task.place?.branch ?? null
  const all = await workshop.evidence(place.cwd, place.since, gear.apart, { keepAs, worker, begunAt, branch })
  const seen = place.branch === null ? all : withoutRepositories(all)
  const at = place.branch === null ? undefined : { cwd: place.cwd, branch: place.branch }
  const audited = await gear.audit.ofIteration(desk.loop(), { since: place.since, seen, at })
  const { evidence, losses, thinned } = audited
  const left = desk.loop().marking === 'here' ? await readListLeft(desk, task) : { list: null, note: null }
  const unresolved =
    role === 'resolve'
      ? task.clash.filter(file => isMarked(path.join(gear.layout.topOf(place.cwd), file)))
      : seen.conflicts
  // A merge that somebody has resolved is finished for them.
  const underWay = role === 'resolve' && seen.underWay?.startsWith('a merge') ? null : seen.underWay
  const isWhole = unresolved.length === 0 && underWay === null
  const weakened = await weakeningsIn(place.cwd, seen, gear)
  const isWorthIt = isWhole && weakened.refused.length === 0 && isWorthChecking(task, evidence)
  const check = isWorthIt ? await runCheck(place, iteration, desk) : null
  if (ending.aborted) return
  const strayed = came.strayed ?? beside.strayed ?? ownRepositories(task, all, seen)
  const taken = [...losses, ...beside.losses]
  const found = {
    evidence,
    check,
    list: left.list,
    listNote: left.note,
    unresolved,
    underWay,
    losses: taken,
    strayed,
    weakened,
    thinned,
    notes,
  }
  report({ type: 'task.judged', task: task.item.key, iteration, ...found })
  if (trace !== null && taskOf(desk.loop(), task.item.key)?.stand.name === 'done') fs.rmSync(trace, { force: true })
}

/** Makes a worktree anew that somebody has removed, and looks at what was done to the user's checkout. */
async function besides(
  { gear, loop }: Desk,
  task: LoopTask,
  { cwd, branch, since }: Place,
  trace: string | null,
): Promise<{ strayed: string | null; losses: readonly Loss[]; notes: readonly string[] }> {
  const { workshop, layout, self, watch } = gear
  if (branch === null) return { strayed: null, losses: [], notes: [] }
  const bench = { path: layout.topOf(cwd), branch }
  const missing = since.head === null ? null : await workshop.mend(self.cwd, bench, since.head)
  const seen = await watch.look(loop(), task, trace)
  const note = `the ${missing === 'folder' ? 'worktree' : 'branch'} of task ${task.item.label} was removed while its agent worked; the loop makes a new one`
  return { ...seen, strayed: seen.strayed ?? (missing === null ? null : note) }
}

/** A repository that was made in a worktree is not merged: what is in it is no work. */
function withoutRepositories(seen: Sighting): Sighting {
  const isStray = ({ before, after }: ChangedFile): boolean => before === null && after?.startsWith('160000') === true
  return seen.changed.some(isStray) ? { ...seen, changed: seen.changed.filter(file => !isStray(file)) } : seen
}

function ownRepositories({ item }: LoopTask, all: Sighting, seen: Sighting): string | null {
  const names = all.changed.filter(file => !seen.changed.includes(file)).map(({ name }) => name)
  if (names.length === 0) return null
  return `the agent of task ${item.label} made a repository of its own at ${names.join(', ')}: the loop does not merge its contents`
}

function isWorthChecking({ stand }: LoopTask, evidence: Evidence): boolean {
  const isFlawed = stand.name === 'judging' && stand.flaw !== null
  return !isFlawed && hasWork(evidence)
}

/** Null where there is nothing to run. */
export async function runCheck(
  { cwd }: Pick<Place, 'cwd'>,
  name: number | string,
  { gear, ending }: Desk,
): Promise<CheckResult | null> {
  const { spec, checks, env, logs } = gear
  // A check that is found later is the agent's own: it is run only where the agent may run anything itself.
  const isToSeek = spec.seek === true && spec.worker.autonomy === 'full'
  const check = spec.check ?? (isToSeek ? checks.detect(cwd) : null)
  if (check === null) return null
  const log = path.join(logs, `check-${name}.log`)
  const result = await checks.run(check, { cwd, env: { ...env, PWD: cwd }, log, limit: spec.checkLimit }, ending)
  // Of a check that was only found, nothing is known where there are no tests yet. One that was asked for must pass.
  const isSought = spec.check === null
  return isSought && result.isUnknown === true && result.took < spec.checkLimit ? null : result
}

/** A conflict that nobody has resolved. */
export function isMarked(file: string): boolean {
  try {
    return /^(?:<{7}|>{7})(?: |$)/m.test(fs.readFileSync(file, 'latin1'))
  } catch {
    return false // Removed, which resolves it.
  }
}
