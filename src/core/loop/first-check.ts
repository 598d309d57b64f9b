import { testsPassed } from '../guard/tests-passed.ts'
import { withNotes } from './change.ts'
import type { Loop } from './loop.ts'
import type { Checked, LoopSignalOf } from './signals.ts'

/** The check is run once before the first task is begun. */
export function isCheckDue({ stage, spec, firstCheck, tasks }: Loop): boolean {
  return (
    stage.name === 'working' &&
    spec.check !== null &&
    firstCheck === undefined &&
    tasks.every(({ tries }) => tries.length === 0)
  )
}

export function onCheckTried(loop: Loop, { check, trouble }: LoopSignalOf<'check.tried'>): Loop {
  if (!isCheckDue(loop)) return loop
  const how = check?.how ?? trouble ?? ''
  const isOk = check?.ok ?? true
  const note = `the check failed before the first task started (${how}): until it passes once, a task is done when git shows a change`
  return withNotes({ ...loop, firstCheck: { ok: isOk, how, ...counted(check) } }, isOk ? [] : [note])
}

/** A check that has failed from the start, and has never passed since, says nothing about a task. */
export function isExcused({ firstCheck }: Loop, check: Checked | null): boolean {
  return check !== null && !check.ok && firstCheck?.ok === false
}

/** From the first time that it passes, it must go on to. */
export function withCheck(loop: Loop, check: Checked | null): Loop {
  const { firstCheck } = loop
  if (firstCheck === undefined || check?.ok !== true) return loop
  const { tests } = counted(check)
  if (!firstCheck.ok) return { ...loop, firstCheck: { ok: true, how: check.how, ...counted(check) } }
  return tests === undefined || tests >= (firstCheck.tests ?? 0)
    ? loop
    : { ...loop, firstCheck: { ...firstCheck, tests } }
}

/** That fewer tests have passed than before; empty where as many have, or nobody knows. */
export function fewerTests({ firstCheck }: Loop, check: Checked | null): string[] {
  const { tests: before = 0 } = firstCheck ?? {}
  const { tests = before } = check?.ok === true ? counted(check) : {}
  return tests < before ? [`only ${tests} of ${before} tests still run`] : []
}

function counted(check: Checked | null): { tests?: number } {
  const tests = check === null ? null : testsPassed(check.tail)
  return tests === null ? {} : { tests }
}
