import fs from 'node:fs'
import path from 'node:path'
import type { Deed } from '../../core/loop/deeds.ts'
import { type Evidence, hasWork } from '../../core/loop/evidence.ts'
import type { LoopTask, Place } from '../../core/loop/loop.ts'
import type { Checked } from '../../core/loop/signals.ts'
import { invariant } from '../../lib/trouble.ts'
import type { Desk } from '../gear.ts'
import { readList } from '../read-list.ts'

type Judge = Extract<Deed, { type: 'judge' }>

/** Gathers what there is to see of an iteration. What is known to be no good is not checked. */
export async function judge({ task, role, iteration }: Judge, desk: Desk): Promise<void> {
  const { gear, report, ending } = desk
  const { workshop } = gear
  const place = role === 'resolve' ? task.resolution : task.place
  invariant(place !== null, `task ${task.item.label} was worked on nowhere`)
  const evidence = await workshop.evidence(place.cwd, place.since, gear.apart)
  const list = desk.loop().marking === 'here' ? await readList(desk) : { items: [], objections: [] }
  const unresolved =
    role === 'resolve' ? task.clash.filter(file => isMarked(path.join(gear.layout.topOf(place.cwd), file))) : []
  const check = isWorthChecking(task, evidence, unresolved) ? await runCheck(place, iteration, desk) : null
  if (ending.aborted) return
  report({ type: 'task.judged', task: task.item.key, iteration, evidence, check, list, unresolved })
}

function isWorthChecking({ stand }: LoopTask, evidence: Evidence, unresolved: readonly string[]): boolean {
  const isFlawed = stand.name === 'judging' && stand.flaw !== null
  return !isFlawed && unresolved.length === 0 && hasWork(evidence)
}

/** Null where there is nothing to run. */
export async function runCheck(
  { cwd }: Pick<Place, 'cwd'>,
  name: number | string,
  { gear, ending }: Desk,
): Promise<Checked | null> {
  const { spec, checks, env, logs } = gear
  const check = spec.check ?? (spec.seek === true ? checks.detect(cwd) : null)
  if (check === null) return null
  const log = path.join(logs, `check-${name}.log`)
  const result = await checks.run(check, { cwd, env: { ...env, PWD: cwd }, log, limit: spec.checkLimit }, ending)
  // Where there are no tests yet, or nothing to run them with, nothing was checked; one that takes too long fails.
  return result.isUnknown === true && result.took < spec.checkLimit ? null : result
}

/** A conflict that nobody has resolved. */
function isMarked(file: string): boolean {
  try {
    return /^(?:<{7}|>{7})(?: |$)/m.test(fs.readFileSync(file, 'latin1'))
  } catch {
    return false // Removed, which resolves it.
  }
}
