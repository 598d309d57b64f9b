import { expect, test } from 'vitest'
import { findSession } from './find-session.ts'
import { makeSessionView, makeEndedSessionView } from '../../../testkit/views/session-view.ts'

const auth = makeSessionView({ id: 'a1', task: 'fix-auth', createdAt: '2026-11-15T10:00:00.000Z' })
const docs = makeEndedSessionView({ id: 'b2', task: 'docs', endedAt: '2026-11-15T11:00:00.000Z' })
const elsewhere = makeSessionView({ id: 'c3', task: 'fix-build', cwd: '/else', createdAt: '2026-11-15T12:00:00.000Z' })
const all = [elsewhere, docs, auth]

test('without a word findSession returns this directory’s session: live before ended, then the newest', () => {
  expect(findSession(all, undefined, '/home/dev/project')).toBe(auth)
  const older = makeEndedSessionView({ id: 'd4', task: 'old', endedAt: '2026-11-14T11:00:00.000Z' })
  expect(findSession([older, docs], undefined, '/home/dev/project')).toBe(docs)
})

test.each([
  ['name', 'demo-fix-auth', auth],
  ['task', 'docs', docs],
  ['id', 'c3', elsewhere],
  ['unique beginning of a task', 'fix-b', elsewhere],
  ['unique beginning of a name', 'demo-d', docs],
])('findSession finds a session by its %s', (_, word, expected) => {
  expect(findSession(all, word, '/nowhere')).toBe(expected)
})

test('an exact name precedes a longer one that begins with it', () => {
  const longer = makeSessionView({ id: 'e5', task: 'fix-auth-2' })
  expect(findSession([longer, auth], 'fix-auth', '/')).toBe(auth)
})

test('a name used again means the live session, else the newest', () => {
  const again = makeEndedSessionView({ id: 'f6', task: 'fix-auth', endedAt: '2026-11-15T23:00:00.000Z' })
  expect(findSession([again, auth], 'demo-fix-auth', '/')).toBe(auth)
  const oldest = makeEndedSessionView({ id: 'g7', task: 'fix-auth', endedAt: '2026-11-10T00:00:00.000Z' })
  expect(findSession([oldest, again], 'fix-a', '/')).toBe(again)
})

test('a word means a loop rather than its workers, unless it names them', () => {
  const loop = makeSessionView({ id: 'h8', name: 'ralph-prd', task: 'prd', createdAt: '2026-11-15T09:00:00.000Z' })
  const worker = makeSessionView({ id: 'i9', task: 'prd-1-1', parent: 'h8', createdAt: '2026-11-15T23:00:00.000Z' })
  const cwd = worker.cwd
  expect(findSession([worker, loop], undefined, cwd)).toBe(loop)
  expect(findSession([worker, loop], 'pr', '/')).toBe(loop)
  expect(findSession([worker, loop], 'demo-prd', '/')).toBe(worker)
  expect(findSession([worker], undefined, cwd)).toBe(worker)
})

function refusalOf(operation: () => unknown): unknown {
  try {
    operation()
    return undefined
  } catch (cause) {
    return cause
  }
}

test('one letter that begins an id by chance names no session, four letters do', () => {
  const one = makeSessionView({ id: 'xk3q9wm2ab', task: 'other' })
  expect(() => findSession([one], 'x', '/')).toThrow('there is no session "x"')
  expect(findSession([one], 'xk3q', '/')).toBe(one)
})

test('an ambiguous prefix lists the candidates', () => {
  expect(refusalOf(() => findSession(all, 'fix', '/'))).toMatchObject({
    code: 'session-ambiguous',
    message: '"fix" may mean 2 sessions: demo-fix-build, demo-fix-auth',
  })
})

test('a typo gets a suggestion, and an empty word matches nothing', () => {
  expect(refusalOf(() => findSession(all, 'fix-atuh', '/'))).toMatchObject({
    code: 'no-session',
    hint: 'did you mean fix-auth?',
  })
  expect(refusalOf(() => findSession(all, '', '/'))).toMatchObject({ code: 'no-session' })
})

test('the refusal in a directory without sessions says how to start one', () => {
  expect(refusalOf(() => findSession([], undefined, '/x'))).toMatchObject({
    code: 'no-session',
    hint: expect.stringContaining('oneshot run'),
  })
  expect(refusalOf(() => findSession(all, undefined, '/x'))).toMatchObject({
    hint: expect.stringContaining('oneshot list'),
  })
})
