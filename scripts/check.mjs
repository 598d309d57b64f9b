// Runs the checks that each commit needs: format, lint, types, walls, unused code, unit tests and scenarios.
import { install, step, vitest } from './steps.mjs'

install()
for (const name of ['format', 'types', 'lint', 'walls', 'unused']) step(name)
const { passed, failed } = vitest(['unit'])
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
