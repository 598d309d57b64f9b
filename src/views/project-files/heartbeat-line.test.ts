import { expect, test } from 'vitest'
import { at } from '../../../testkit/views/page-data.ts'
import { renderHeartbeat, parseLastHeartbeat } from './heartbeat-line.ts'

const STATS = { pid: 4242, isAlive: true, cpu: 12_340, written: 45_678, writtenAt: at(27) }

test('a heartbeat contains the observed facts', () => {
  const event = { at: at(1), type: 'session.noted', note: 'two\nlines' } as const
  const line = renderHeartbeat({ at: at(30), state: 'running', stats: STATS, event, gap: null })
  expect(line).toBe(
    '2026-11-15T10:00:30.000Z running; pid 4242 alive; 12.34 s of CPU; 45 KB of output, the last 3 s ago; two lines\n',
  )
  expect(parseLastHeartbeat(line)).toBe(at(30))
})

test('a heartbeat explains a gap, and invents no missing facts', () => {
  const gap = { length: 720_000, reason: 'the machine was asleep' }
  const gone = { pid: 7, isAlive: false, cpu: null, written: 0, writtenAt: null }
  const lines = [
    renderHeartbeat({ at: at(0), state: 'running', stats: gone, event: null, gap }),
    renderHeartbeat({ at: at(0), state: 'starting', stats: { ...gone, pid: null }, event: null, gap: null }),
  ]
  expect(lines).toEqual([
    '2026-11-15T10:00:00.000Z running; after 12 min without a heartbeat: the machine was asleep; pid 7 gone; no output\n',
    '2026-11-15T10:00:00.000Z starting; no process; no output\n',
  ])
})

test('parseLastHeartbeat returns null for text that is no heartbeat', () => {
  for (const text of ['', 'alive\n', '2026-99-99T10:00:00Z running\n', '2026-11-15T10:00:30.000Z running'])
    expect(parseLastHeartbeat(text)).toBeNull()
})
