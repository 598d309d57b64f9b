import { expect, test } from 'vitest'
import { SIGNAL_TYPES } from './signals.ts'
import { type DecisionTable, TABLE } from './decision-table.ts'

test('every phase answers every signal', () => {
  for (const row of Object.values(TABLE)) expect(Object.keys(row).sort()).toEqual([...SIGNAL_TYPES].sort())
})

test('a row that does not answer a signal does not compile', () => {
  const { 'agent.hung': _, ...incomplete } = TABLE.resting
  // @ts-expect-error The row has no answer to `agent.hung`.
  const row: DecisionTable['resting'] = incomplete
  expect(row).not.toHaveProperty('agent.hung')
})

test('a row cannot give a signal the reaction to another signal', () => {
  // @ts-expect-error The reaction to `launch.failed` needs the reason of a failed launch.
  const row: DecisionTable['starting'] = { ...TABLE.starting, 'user.stop': TABLE.starting['launch.failed'] }
  expect(Object.keys(row)).toHaveLength(SIGNAL_TYPES.length)
})
