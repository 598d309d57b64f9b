import { addNotes } from './loop-updates.ts'
import type { Loop } from './loop-state.ts'
import type { CheckRun, LoopSignalOf } from './signals.ts'

/** Matches lines that count files or groups of tests. */
const NOT_TEST_COUNTS = /\b(?:Suites?|Files?|Snapshots?|Modules?)\b.{0,40}\d/i
/** Phrases with which test runners report the number of passed tests. */
const PASSED_PATTERNS: readonly RegExp[] = [
  /\b(\d{1,9}) (?:tests? )?(?:passed|passing|pass)\b/i,
  /^\W{0,4}pass (\d{1,9})\b/,
  /^Ran (\d{1,9}) tests?\b/,
  /^OK \((\d{1,9}) tests?\b/,
  /^(\d{1,9}) examples?, 0 failures/,
  /\bTests run: (\d{1,9}), Failures: 0/,
  /\bPassed: +(\d{1,9})\b/,
]
const MAX_LINE_LENGTH = 500

/** Returns the number of passed tests from the output of a check; null if the output does not say. */
export function countPassedTests(output: string): number | null {
  const counts = output.split('\n').flatMap(whole => {
    const line = whole.trim().slice(0, MAX_LINE_LENGTH)
    if (NOT_TEST_COUNTS.test(line)) return []
    const found = PASSED_PATTERNS.flatMap(pattern => pattern.exec(line)?.[1] ?? [])[0]
    return found === undefined ? [] : [Number(found)]
  })
  return counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0)
}

/** The check runs once before the first task starts. */
export function isCheckDue({ stage, spec, firstCheck, tasks }: Loop): boolean {
  return (
    stage.name === 'working' &&
    spec.check !== null &&
    firstCheck === undefined &&
    tasks.every(({ tries }) => tries.length === 0)
  )
}

export function onBaselineChecked(loop: Loop, { check, trouble }: LoopSignalOf<'baseline.checked'>): Loop {
  if (!isCheckDue(loop)) return loop
  const how = check?.how ?? trouble ?? ''
  const isOk = check?.ok ?? true
  const note = `the check failed before the first task started (${how}): until it passes once, a task is done when git shows a change`
  return addNotes({ ...loop, firstCheck: { ok: isOk, how, ...passedTests(check) } }, isOk ? [] : [note])
}

/** A check that has failed from the start, and has never passed since, says nothing about a task. */
export function isFailingSinceStart({ firstCheck }: Loop, check: CheckRun | null): boolean {
  return check !== null && !check.ok && firstCheck?.ok === false
}

/** After the check has passed once, it must continue to pass. */
export function updateBaseline(loop: Loop, check: CheckRun | null): Loop {
  const { firstCheck } = loop
  if (firstCheck === undefined || check?.ok !== true) return loop
  const { tests } = passedTests(check)
  if (!firstCheck.ok) return { ...loop, firstCheck: { ok: true, how: check.how, ...passedTests(check) } }
  return tests === undefined || tests >= (firstCheck.tests ?? 0)
    ? loop
    : { ...loop, firstCheck: { ...firstCheck, tests } }
}

/** Passed tests now and before the first task. */
export interface FewerTests {
  readonly now: number
  readonly before: number
}

/** Returns the numbers if fewer tests passed than before; null if as many passed, or if a number is unknown. */
export function findFewerTests({ firstCheck }: Loop, check: CheckRun | null): FewerTests | null {
  const { tests: before = 0 } = firstCheck ?? {}
  const { tests: now = before } = check?.ok === true ? passedTests(check) : {}
  return now < before ? { now, before } : null
}

function passedTests(check: CheckRun | null): { tests?: number } {
  const tests = check === null ? null : check.tests === undefined ? countPassedTests(check.tail) : check.tests
  return tests === null ? {} : { tests }
}
