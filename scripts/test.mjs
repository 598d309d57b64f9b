// `npm test` runs the check and the tests on real tmux, SQLite and processes, without the extended cases, beside a short
// chaos run. `npm run test:all` (--all) runs everything. Other words are filters: all cases of the matching files run.
import { install, report, runSteps, STATIC_STEPS, step, vitest } from './steps.mjs'

install()
const filters = process.argv.slice(2).filter(word => word !== '--all')
const isWhole = filters.length === 0
const isShort = isWhole && !process.argv.includes('--all')
const begun = Date.now()
process.env.ONESHOT_TESTS = isShort ? 'short' : 'all'
if (!isShort) {
  process.env.ONESHOT_SEED ??= '1'
  console.log(`random tests: ONESHOT_SEED=${process.env.ONESHOT_SEED} repeats them`)
}
await runSteps(['build'])
const [failures, result] = await Promise.all([runBeside(), vitest(['whole'], filters, { isShort })])
if (isWhole && !isShort && result.failed === 0) await runSteps(['chaos', 'loops'])
for (const failure of failures) process.stderr.write(failure)
console.log(`took ${Math.round((Date.now() - begun) / 1000)} s`)
report(result, failures.length === 0)

/** Runs the static steps, and a short chaos run, at the same time as the tests, which mostly wait. */
async function runBeside() {
  const failures = []
  if (isWhole)
    for (const name of [...STATIC_STEPS, ...(isShort ? ['short chaos'] : [])]) failures.push(await step(name))
  return failures.filter(failure => failure !== undefined)
}
