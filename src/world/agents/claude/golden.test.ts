import { testGoldenFiles } from '../../../../testkit/agents/golden.ts'
import { readLine } from './parse-output.ts'

/** The recordings leave out the long lists of the init event. */
testGoldenFiles('claude', readLine)
