// Runs the checks that each commit needs: format, types, purity, lint, walls, unused code, unit tests and scenarios.
import { install, report, runSteps, STATIC_STEPS, vitest } from './steps.mjs'

install()
await runSteps(STATIC_STEPS)
report(await vitest(['unit'], [], { isShort: true }))
