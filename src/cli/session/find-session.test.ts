import { afterEach, beforeEach, expect, test } from 'vitest'
import { storedSession, storeSessions } from '../../../testkit/views/stored-sessions.ts'
import { type TempHome, tempHome } from '../../../testkit/system/temp-home.ts'
import type { Session } from '../../core/session/session-state.ts'
import type { CommandContext } from '../context.ts'
import { findSession, pickSession } from './find-session.ts'

const at = (day: number, hour: number): number => Date.UTC(2026, 10, day, hour)
const auth = storedSession({ id: 'a1', task: 'fix-auth', createdAt: at(15, 10) })
const docs = storedSession({ id: 'b2', task: 'docs', endedAt: at(15, 11) })
const elsewhere = storedSession({ id: 'c3', task: 'fix-build', cwd: '/else', createdAt: at(15, 12) })
const all = [elsewhere, docs, auth]

let temp: TempHome
beforeEach(() => {
  temp = tempHome()
})
afterEach(() => temp.assertNoLeaks())

/** Returns the id of the session that the word means in a home with these sessions. */
function find(sessions: readonly Session[], word: string | undefined, cwd: string): string {
  storeSessions(temp.home, sessions)
  const context = { home: temp.home, host: { cwd: () => cwd } } as unknown as CommandContext
  return (word === undefined ? pickSession(context, word) : findSession(temp.home, word, cwd)).id
}

test('without a word pickSession returns this directory’s session: live before ended, then the newest', () => {
  const older = storedSession({ id: 'd4', task: 'old', endedAt: at(14, 11) })
  expect(find([older, docs], undefined, '/home/dev/project')).toBe('b2')
  expect(find(all, undefined, '/home/dev/project')).toBe('a1')
})

test.each([
  ['name', 'talker-fix-auth', 'a1'],
  ['task', 'docs', 'b2'],
  ['id', 'c3', 'c3'],
  ['unique beginning of a task', 'fix-b', 'c3'],
  ['unique beginning of a name', 'talker-d', 'b2'],
])('findSession finds a session by its %s', (_, word, expected) => {
  expect(find(all, word, '/nowhere')).toBe(expected)
})

test('a label means its session, before a task of that name', () => {
  const named = storedSession({ id: 'n1', task: 'other', label: 'docs', endedAt: at(10, 0) })
  expect(find([docs, named], 'docs', '/')).toBe('n1')
})

test('an exact name precedes a longer one that begins with it', () => {
  expect(find([storedSession({ id: 'e5', task: 'fix-auth-2' }), auth], 'fix-auth', '/')).toBe('a1')
})

test('a name used again means the live session, else the newest', () => {
  const again = storedSession({ id: 'f6', task: 'fix-auth', endedAt: at(15, 23) })
  const oldest = storedSession({ id: 'g7', task: 'fix-auth', endedAt: at(10, 0) })
  expect(find([oldest, again], 'fix-a', '/')).toBe('f6')
  expect(find([auth], 'talker-fix-auth', '/')).toBe('a1')
})

test('of ended sessions with one name, that of this directory precedes a newer one of another', () => {
  const here = storedSession({ id: 'h1', task: 'x', cwd: '/here', endedAt: at(10, 0) })
  const there = storedSession({ id: 't1', task: 'x', cwd: '/there', endedAt: at(12, 0) })
  expect(find([here, there], 'x', '/here')).toBe('h1')
  expect(find([], 'x', '/elsewhere')).toBe('t1')
})

test('a word means a loop rather than its workers, unless it names them', () => {
  const loop = storedSession({ id: 'h8', name: 'ralph-prd', task: 'prd', createdAt: at(15, 9) })
  const parent = { id: 'h8', key: 'k' }
  const worker = storedSession({ id: 'i9', task: 'prd-1-1', cwd: '/tree', parent, createdAt: at(15, 23) })
  const inPlace = storedSession({ id: 'j1', task: 'prd-2-1', parent, createdAt: at(15, 23) })
  expect(find([worker, inPlace, loop], undefined, loop.spec.cwd)).toBe('h8')
  expect(find([], undefined, '/tree')).toBe('i9')
  expect(find([], 'pr', '/tree')).toBe('h8')
  expect(find([], 'talker-prd-1', '/')).toBe('i9')
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
  const one = storedSession({ id: 'xk3q9wm2ab', task: 'other' })
  expect(() => find([one], 'x', '/')).toThrow('there is no session "x"')
  expect(find([], 'xk3q', '/')).toBe('xk3q9wm2ab')
})

test('an ambiguous prefix lists the candidates', () => {
  expect(refusalOf(() => find(all, 'fix', '/'))).toMatchObject({
    code: 'session-ambiguous',
    message: '"fix" may mean 2 sessions: talker-fix-build, talker-fix-auth',
  })
})

test('an ambiguous prefix of ended sessions lists the candidates, the latest end first', () => {
  const more = storedSession({ id: 'd5', task: 'docs-2', endedAt: at(16, 0) })
  expect(refusalOf(() => find([docs, more], 'doc', '/'))).toMatchObject({
    message: '"doc" may mean 2 sessions: talker-docs-2, talker-docs',
  })
})

test('a typo gets a suggestion, and an empty word matches nothing', () => {
  expect(refusalOf(() => find(all, 'fix-atuh', '/'))).toMatchObject({
    code: 'no-session',
    hint: 'did you mean fix-auth?',
  })
  expect(refusalOf(() => find([], '', '/'))).toMatchObject({ code: 'no-session' })
})

test('the refusal in a directory without sessions says how to start one, or names one above', () => {
  const hint = (sessions: readonly Session[], cwd: string): unknown =>
    (refusalOf(() => find(sessions, undefined, cwd)) as { hint: string }).hint
  expect(hint([], '/x')).toContain('oneshot run')
  expect(hint(all, '/x')).toContain('oneshot list')
  expect(hint([], '/home/dev/project/src')).toBe('talker-fix-auth is in /home/dev/project: name it')
})
