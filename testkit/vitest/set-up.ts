import { configureGlobal } from 'fast-check'
import { SEED } from '../system/seeded-random.ts'

/** Properties get the seed of all random tests, so that a failure can be repeated. */
configureGlobal({ seed: SEED })
