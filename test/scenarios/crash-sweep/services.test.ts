import { expect, test } from 'vitest'
import { SCENARIOS } from '../scenarios.ts'
import { sweep, SWEPT } from './sweep.ts'

sweep(SWEPT.services)

test('the crash sweep covers every scenario', () => {
  expect(Object.values(SWEPT).flat().toSorted()).toEqual(Object.keys(SCENARIOS).toSorted())
})
