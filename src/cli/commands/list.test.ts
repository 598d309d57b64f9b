import { expect, it } from 'vitest'
import { makeSessionView, makeEndedSessionView } from '../../../testkit/views/session-view.ts'
import { nestWorkers } from './list.ts'

const loop = makeSessionView({ id: 'loop', name: 'ralph-prd', agent: 'ralph' })
const sessions = [
  makeSessionView({ id: 'new', name: 'demo-new' }),
  makeSessionView({ id: 'w3', name: 'demo-prd-3-3', parent: 'loop', createdAt: '2026-11-15T10:00:03.000Z' }),
  makeSessionView({ id: 'w2', name: 'demo-prd-2-2', parent: 'loop', createdAt: '2026-11-15T10:00:02.000Z' }),
  loop,
  makeEndedSessionView({ id: 'w1', name: 'demo-prd-1-1', parent: 'loop', createdAt: '2026-11-15T10:00:01.000Z' }),
  makeEndedSessionView({ id: 'orphan', name: 'demo-old-1-1', parent: 'removed' }),
]
const shown = (options: { isWhole: boolean }): string[] =>
  nestWorkers(sessions, { fits: () => true, ...options }).map(
    ({ session, isBelow }) => `${isBelow ? '  ' : ''}${session.name}`,
  )

it('live workers of a loop follow it in the order of their creation', () => {
  expect(shown({ isWhole: false })).toEqual([
    'demo-new',
    'ralph-prd',
    '  demo-prd-2-2',
    '  demo-prd-3-3',
    'demo-old-1-1',
  ])
})

it('isWhole includes the ended workers', () => {
  expect(shown({ isWhole: true }).slice(1, 5)).toEqual([
    'ralph-prd',
    '  demo-prd-1-1',
    '  demo-prd-2-2',
    '  demo-prd-3-3',
  ])
})

it('the filter applies to the loop and not to its workers, whatever their folder', () => {
  const fits = ({ agent }: { agent: string }): boolean => agent === 'ralph'
  expect(nestWorkers(sessions, { fits, isWhole: false })).toHaveLength(3)
})
