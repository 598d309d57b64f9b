import { expect, test } from 'vitest'
import { readRest } from './run-worker.ts'

test('the rest of a held worker names the command that continues it', () => {
  const state = { phase: 'blocked', reason: 'held by you' } as const
  expect(readRest({ ...state, problem: 'held' }, 'codex-prd-1-1')?.reason).toBe(
    'held by you: oneshot resume codex-prd-1-1',
  )
  expect(readRest({ ...state, reason: 'log in', problem: 'login' }, 'codex-prd-1-1')?.reason).toBe('log in')
  expect(readRest({ phase: 'running', reason: null, problem: null }, 'codex-prd-1-1')).toBeNull()
})
