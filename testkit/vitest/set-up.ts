import { configureGlobal } from 'fast-check'
import { afterEach } from 'vitest'
import { SEED } from '../system/seeded-random.ts'

/** Properties get the seed of all random tests, so that a failure can be repeated. */
configureGlobal({ seed: SEED })

afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.error(`ONESHOT_SEED=${SEED} repeats the random values of “${task.name}”`)
})
