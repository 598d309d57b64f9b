import { testGoldenFiles } from '../../../../testkit/agents/golden.ts'
import { readLine } from './parse-output.ts'

testGoldenFiles('pi', readLine)
