import { testGoldenFiles } from '../../../../testkit/agents/golden.ts'
import { readLine } from './read.ts'

testGoldenFiles('pi', readLine)
