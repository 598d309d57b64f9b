// Runs the check and the tests on real tmux, SQLite and processes. `npm test -- FILTER` runs only matching files.
import { install, step, vitest } from './steps.mjs'

install()
const filters = process.argv.slice(2)
const begun = Date.now()
if (filters.length === 0) for (const name of ['format', 'types', 'lint', 'walls', 'unused']) step(name)
step('build')
const { passed, failed, skipped } = vitest(['unit', 'real', 'attack'], filters)
if (filters.length === 0 && failed === 0) for (const name of ['chaos', 'loops']) step(name)
console.log(`took ${Math.round((Date.now() - begun) / 1000)} s`)
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1
