import { beforeAll } from 'vitest'
import { readsAsBefore } from '../../../testkit/agents/golden.ts'
import { read } from './read.ts'

beforeAll(() => {
  process.env['TZ'] = 'UTC' // Its clock times are those of its time zone.
})

readsAsBefore('codex', (line, memory) => read(line, memory, Date.parse('2026-11-15T09:10:00Z')))
