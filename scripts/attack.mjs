// Runs only the hostile cases, at full strength: more rounds of every race and larger inputs than `npm test`.
// `npm run attack -- FILTER` runs only matching files.
import { install, step, vitest } from './steps.mjs'

install()
step('build')
process.env.ONESHOT_ATTACK = 'full'
const { passed, failed, skipped } = vitest(['attack'], process.argv.slice(2))
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1
