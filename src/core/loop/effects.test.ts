import { expect, test } from 'vitest'
import { type LoopEffect, effectsToStart } from './effects.ts'

const effect = (key: string): LoopEffect => ({ key, type: key.split(' ')[0] }) as unknown as LoopEffect

test('no merge starts while a cancelled one is still under way', () => {
  const wanted = [effect('merge 1 1'), effect('clear 3'), effect('tend 4')]
  expect(effectsToStart(wanted, new Set(['merge 2 1', 'tend 4'])).map(({ key }) => key)).toEqual(['clear 3'])
  expect(effectsToStart(wanted, new Set(['tend 4'])).map(({ key }) => key)).toEqual(['merge 1 1', 'clear 3'])
})
