/** Lines that count files or groups of tests. */
const OTHERS = /\b(?:Suites?|Files?|Snapshots?|Modules?)\b.{0,40}\d/i
/** How test runners say how many tests have passed. */
const COUNTS: readonly RegExp[] = [
  /\b(\d{1,9}) (?:tests? )?(?:passed|passing|pass)\b/i,
  /^\W{0,4}pass (\d{1,9})\b/,
  /^Ran (\d{1,9}) tests?\b/,
  /^OK \((\d{1,9}) tests?\b/,
  /^(\d{1,9}) examples?, 0 failures/,
  /\bTests run: (\d{1,9}), Failures: 0/,
  /\bPassed: +(\d{1,9})\b/,
]
const LONGEST_LINE = 500

/** How many tests have passed, as the end of a check's output says; null where it does not say. */
export function testsPassed(output: string): number | null {
  const counts = output.split('\n').flatMap(whole => {
    const line = whole.trim().slice(0, LONGEST_LINE)
    if (OTHERS.test(line)) return []
    const found = COUNTS.flatMap(pattern => pattern.exec(line)?.[1] ?? [])[0]
    return found === undefined ? [] : [Number(found)]
  })
  return counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0)
}
