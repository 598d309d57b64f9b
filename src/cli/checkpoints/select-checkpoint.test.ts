import { expect, test } from 'vitest'
import type { CheckpointView } from '../../api/contract/responses.ts'
import { selectCheckpoint } from './select-checkpoint.ts'

const ALL = ['2440bbbbbb', '9cafe01234', '1234567fff'].map((commit, index) => ({
  ...({} as CheckpointView),
  number: index + 1,
  commit,
}))

function chosen(word: string): number {
  return selectCheckpoint(ALL, word, { name: 'demo-poem' }).number
}

test.each([
  ['1', 1],
  ['first', 1],
  ['last', 3],
  ['9cafe01', 2],
  ['1234567', 3],
])('%s is checkpoint %i', (word, number) => {
  expect(chosen(word)).toBe(number)
})

test.each(['24', '9', '9cafe0', '244', 'x', ''])('%j is not a checkpoint, even if a commit begins with it', word => {
  expect(() => chosen(word)).toThrow(`demo-poem has no checkpoint ${word}`)
})
