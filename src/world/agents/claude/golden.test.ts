import { readsAsBefore } from '../../../testkit/agents/golden.ts'
import { read } from './read.ts'

/** Long lists of its init are left out of what was recorded. */
readsAsBefore('claude', read)
