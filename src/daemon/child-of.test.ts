import { expect, test } from 'vitest'
import { create } from '../core/create.ts'
import type { Session } from '../core/session.ts'
import { specOf } from '../testkit/memory/stage.ts'
import { childOf } from './child-of.ts'

const parent = create(specOf({ agent: 'talker' }), { hasPrompt: true }).session
const child = create(specOf({ agent: 'talker', id: 's2', parent: { id: 's1', key: 'task 1' } }), {
  hasPrompt: true,
}).session
const ended: Session = { ...parent, phase: { name: 'ended', at: 1, outcome: 'done', reason: '', trouble: null } }

test('the same name again is the same session, and another name another one', () => {
  expect(childOf({ id: 's1', key: 'task 1' }, [parent, child])).toBe(child)
  expect(childOf({ id: 's1', key: 'task 2' }, [parent, child])).toBeUndefined()
})

test('who has ended or is to end starts nothing new', () => {
  expect(() => childOf({ id: 's1', key: 'task 2' }, [ended, child])).toThrow('has ended')
  expect(() => childOf({ id: 's1', key: 'task 2' }, [{ ...parent, wanted: 'stop' }, child])).toThrow('has ended')
  expect(childOf({ id: 's1', key: 'task 1' }, [ended, child])).toBe(child)
  expect(() => childOf({ id: 's9', key: 'task 1' }, [parent])).toThrow('there is no session s9')
})
