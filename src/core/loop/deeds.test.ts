import { expect, test } from 'vitest'
import { type Deed, toBegin } from './deeds.ts'

const deed = (key: string): Deed => ({ key, type: key.split(' ')[0] }) as unknown as Deed

test('no merge begins while another one that was called off is still under way', () => {
  const wanted = [deed('merge 1 1'), deed('clear 3'), deed('tend 4')]
  expect(toBegin(wanted, new Set(['merge 2 1', 'tend 4'])).map(({ key }) => key)).toEqual(['clear 3'])
  expect(toBegin(wanted, new Set(['tend 4'])).map(({ key }) => key)).toEqual(['merge 1 1', 'clear 3'])
})
