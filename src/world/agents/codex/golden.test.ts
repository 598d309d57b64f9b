import { beforeAll } from 'vitest'
import { testGoldenFiles } from '../../../../testkit/agents/golden.ts'
import { readLine } from './parse-output.ts'

beforeAll(() => {
  process.env['TZ'] = 'UTC' // codex's clock times are in its own time zone.
})

testGoldenFiles('codex', (line, memory) => readLine(line, memory, Date.parse('2026-11-15T09:10:00Z')))
