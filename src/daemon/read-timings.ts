import os from 'node:os'
import path from 'node:path'
import { refusal } from '../api/contract/problems.ts'
import { DEFAULT_TIMINGS, parseTimings, type Timings } from '../core/session/supervisor-timings.ts'
import type { Home } from '../state/home.ts'

/** The tests of oneshot shorten the supervisor's waiting times with it. */
const VARIABLE = 'ONESHOT_TEST_TIMINGS'

/**
 * Returns the supervisor's waiting times. Only a state folder below the folder for temporary files may have others than
 * the defaults, so that nobody's real sessions get a hasty supervisor.
 */
export function readTimings(env: NodeJS.ProcessEnv, home: Home): Timings {
  const text = env[VARIABLE]
  if (text === undefined) return DEFAULT_TIMINGS
  if (!home.root.startsWith(`${os.tmpdir()}${path.sep}`))
    throw refusal(
      'config-invalid',
      `${VARIABLE} is for tests: ${home.root} is not below ${os.tmpdir()}`,
      `unset ${VARIABLE}`,
    )
  const timings = parseTimings(text)
  if (timings === undefined)
    throw refusal(
      'config-invalid',
      `${VARIABLE} must be a list of NAME=MILLISECONDS, not “${text}”`,
      `unset ${VARIABLE}`,
    )
  return timings
}
