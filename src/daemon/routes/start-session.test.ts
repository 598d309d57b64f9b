import { expect, test } from 'vitest'
import { createSession } from '../../core/session/create.ts'
import type { Session } from '../../core/session/session-state.ts'
import { makeDecision } from '../../core/session/decision.ts'
import { InMemoryDisk } from '../../../testkit/in-memory/disk.ts'
import { makeSpec } from '../../../testkit/in-memory/simulation.ts'
import { InMemoryStore } from '../../../testkit/in-memory/store.ts'
import { extendSearchPath, findChildSession } from './start-session.ts'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const parent = createSession(makeSpec({ agent: 'talker' }), { hasPrompt: true }).session
const child = createSession(makeSpec({ agent: 'talker', id: 's2', parent: { id: 's1', key: 'task 1' } }), {
  hasPrompt: true,
}).session
const ended: Session = { ...parent, phase: { name: 'ended', at: 1, outcome: 'done', reason: '', trouble: null } }

function storeOf(...sessions: Session[]): InMemoryStore {
  const store = new InMemoryStore(new InMemoryDisk())
  for (const session of sessions) store.record(makeDecision(session, []))
  return store
}

test('the same key finds the same child session, and another key none', () => {
  expect(findChildSession({ id: 's1', key: 'task 1' }, storeOf(parent, child))).toEqual(child)
  expect(findChildSession({ id: 's1', key: 'task 2' }, storeOf(parent, child))).toBeUndefined()
})

test('a session that has ended or is stopping starts no new session', () => {
  expect(() => findChildSession({ id: 's1', key: 'task 2' }, storeOf(ended, child))).toThrow('has ended')
  expect(() => findChildSession({ id: 's1', key: 'task 2' }, storeOf({ ...parent, wanted: 'stop' }, child))).toThrow(
    'has ended',
  )
  expect(findChildSession({ id: 's1', key: 'task 1' }, storeOf(ended, child))).toEqual(child)
  expect(() => findChildSession({ id: 's9', key: 'task 1' }, storeOf(parent))).toThrow('there is no session s9')
})

test('the supervisor also searches the caller’s PATH when its own lacks tmux or git', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-path-'))
  for (const name of ['tmux', 'git']) fs.writeFileSync(path.join(folder, name), '', { mode: 0o755 })
  const stale: NodeJS.ProcessEnv = { PATH: '/nowhere' }
  extendSearchPath(folder, stale)
  extendSearchPath(folder, stale)
  expect(stale['PATH']).toBe(`/nowhere:${folder}`)
  const whole: NodeJS.ProcessEnv = { PATH: folder }
  extendSearchPath('/elsewhere', whole)
  extendSearchPath(undefined, whole)
  expect(whole['PATH']).toBe(folder)
  fs.rmSync(folder, { recursive: true })
})
