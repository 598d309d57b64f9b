// Runs only the hostile cases, at full strength: more rounds of every race and larger inputs than `npm test`.
// `npm run attack -- FILTER` runs only matching files.
import { install, report, runSteps, vitest } from './steps.mjs'

install()
await runSteps(['build'])
process.env.ONESHOT_ATTACK = 'full'
report(await vitest(['attack'], process.argv.slice(2)))
