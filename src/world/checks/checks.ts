import type { Checks } from '../../ports/checks.ts'
import { detect } from './detect.ts'
import { runCheck } from './run-check.ts'

/** Checks by what projects are usually tested with. `env` tells where programs are found. */
export function projectChecks(env: { readonly PATH?: string | undefined } = process.env): Checks {
  return { detect: cwd => detect(cwd, env), run: runCheck }
}
