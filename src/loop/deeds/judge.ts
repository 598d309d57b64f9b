import fs from 'node:fs'
import path from 'node:path'
import type { Deed } from '../../core/loop/deeds.ts'
import { type Evidence, hasWork } from '../../core/loop/evidence.ts'
import type { LoopTask, Place } from '../../core/loop/loop.ts'
import type { Checked } from '../../core/loop/signals.ts'
import type { ItemList } from '../../core/loop/item.ts'
import { invariant, Trouble } from '../../lib/trouble.ts'
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
  const list =
    desk.loop().marking === 'here' ? await readList(desk).catch(nothingListed) : { items: [], objections: [] }
  const unresolved =
    role === 'resolve' ? task.clash.filter(file => isMarked(path.join(gear.layout.topOf(place.cwd), file))) : []
  const check = isWorthChecking(task, evidence, unresolved) ? await runCheck(place, iteration, desk) : null
  if (ending.aborted) return
  report({ type: 'task.judged', task: task.item.key, iteration, evidence, check, list, unresolved })
}

/** A list that is gone for a moment is no fault of the work. */
function nothingListed(cause: unknown): ItemList {
  if (!(cause instanceof Trouble)) throw cause
  return { items: [], objections: [] }
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
