import { expect, it } from 'vitest'
import { aSession, anEnded } from '../session/fixture.ts'
import { belowLoops } from './below-loops.ts'

const loop = aSession({ id: 'loop', name: 'ralph-prd', agent: 'ralph' })
const sessions = [
  aSession({ id: 'new', name: 'demo-new' }),
  aSession({ id: 'w3', name: 'demo-prd-3-3', parent: 'loop', createdAt: '2026-11-15T10:00:03.000Z' }),
  aSession({ id: 'w2', name: 'demo-prd-2-2', parent: 'loop', createdAt: '2026-11-15T10:00:02.000Z' }),
  loop,
  anEnded({ id: 'w1', name: 'demo-prd-1-1', parent: 'loop', createdAt: '2026-11-15T10:00:01.000Z' }),
  anEnded({ id: 'orphan', name: 'demo-old-1-1', parent: 'removed' }),
]
const shown = (options: { isWhole: boolean }): string[] =>
  belowLoops(sessions, { fits: () => true, ...options }).map(
    ({ session, isBelow }) => `${isBelow ? '  ' : ''}${session.name}`,
  )

it('those who work for a loop stand below it while they live, in the order they were begun', () => {
  expect(shown({ isWhole: false })).toEqual([
    'demo-new',
    'ralph-prd',
    '  demo-prd-2-2',
    '  demo-prd-3-3',
    'demo-old-1-1',
  ])
})

it('all of them when that is asked for', () => {
  expect(shown({ isWhole: true }).slice(1, 5)).toEqual([
    'ralph-prd',
    '  demo-prd-1-1',
    '  demo-prd-2-2',
    '  demo-prd-3-3',
  ])
})

it('they follow the choice of their loop, wherever they work themselves', () => {
  const fits = ({ agent }: { agent: string }): boolean => agent === 'ralph'
  expect(belowLoops(sessions, { fits, isWhole: false })).toHaveLength(3)
})
