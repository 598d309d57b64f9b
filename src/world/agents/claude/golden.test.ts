import { testGoldenFiles } from '../../../../testkit/agents/golden.ts'
import { readLine } from './read.ts'

/** Long lists of its init are left out of what was recorded. */
testGoldenFiles('claude', readLine)
