import { afterEach, beforeEach, expect, it } from 'vitest'
import { storedSession, storeSessions } from '../../../testkit/views/stored-sessions.ts'
import { type TempHome, tempHome } from '../../../testkit/system/temp-home.ts'
import { countHidden, nestWorkers, selectPages, type Selection } from './select-sessions.ts'

const parent = { id: 'loop', key: 'k' }
const sessions = [
  storedSession({ id: 'new', name: 'demo-new', createdAt: 9 }),
  storedSession({ id: 'w3', name: 'demo-prd-3-3', parent, createdAt: 3 }),
  storedSession({ id: 'w2', name: 'demo-prd-2-2', parent, createdAt: 2 }),
  { ...storedSession({ id: 'loop', name: 'ralph-prd', createdAt: 1 }) },
  storedSession({ id: 'w1', name: 'demo-prd-1-1', cwd: '/tree', parent, createdAt: 1, endedAt: 5 }),
  storedSession({ id: 'orphan', name: 'demo-old-1-1', parent: { id: 'removed', key: 'k' }, endedAt: 4 }),
].map(session => (session.spec.id === 'loop' ? { ...session, spec: { ...session.spec, agent: 'ralph' } } : session))

const EVERYTHING: Selection = {
  cwd: null,
  state: undefined,
  isLiveOnly: false,
  endedLimit: null,
  endedSince: undefined,
  isFlat: false,
}

let temp: TempHome
beforeEach(() => {
  temp = tempHome()
})
afterEach(() => temp.assertNoLeaks())

function shown(selection: Partial<Selection>, options = { withEnded: false }): string[] {
  const pages = [...selectPages(temp.home, { ...EVERYTHING, ...selection })]
  return nestWorkers(temp.home, pages.flat(), options).map(
    ({ session, isBelow }) => `${isBelow ? '  ' : ''}${session.name}`,
  )
}

it('live workers of a loop follow it in the order of their creation', () => {
  storeSessions(temp.home, sessions)
  expect(shown({})).toEqual(['demo-new', 'ralph-prd', '  demo-prd-2-2', '  demo-prd-3-3', 'demo-old-1-1'])
})

it('withEnded includes the ended workers', () => {
  storeSessions(temp.home, sessions)
  expect(shown({}, { withEnded: true }).slice(1, 5)).toEqual([
    'ralph-prd',
    '  demo-prd-1-1',
    '  demo-prd-2-2',
    '  demo-prd-3-3',
  ])
})

it('the folder applies to the loop and not to its workers, and a worker elsewhere is no session of its own', () => {
  storeSessions(temp.home, sessions)
  expect(shown({ cwd: '/tree' })).toEqual([])
  expect(shown({ cwd: '/home/dev/project' }, { withEnded: true })).toContain('  demo-prd-1-1')
})

it('a flat selection has the workers as sessions of their own', () => {
  storeSessions(temp.home, sessions)
  const names = [...selectPages(temp.home, { ...EVERYTHING, isFlat: true })].flat().map(({ name }) => name)
  expect(names).toEqual(['demo-new', 'demo-prd-3-3', 'demo-prd-2-2', 'ralph-prd', 'demo-prd-1-1', 'demo-old-1-1'])
})

const ended = Array.from({ length: 1_203 }, (_, at) =>
  storedSession({ id: `e${at}`, name: `demo-e${at}`, endedAt: 1_000 + Math.floor(at / 2) }),
)

it('selectPages yields each ended session once, the latest end first, a page at a time', () => {
  storeSessions(temp.home, ended)
  const pages = [...selectPages(temp.home, EVERYTHING)]
  expect(pages.map(page => page.length)).toEqual([500, 500, 203])
  const times = pages.flat().map(({ endedAt }) => Date.parse(endedAt ?? ''))
  expect(times).toEqual(times.toSorted((a, b) => b - a))
  expect(new Set(pages.flat().map(({ id }) => id)).size).toBe(ended.length)
})

it('a limit and a time select the last ended sessions, and countHidden counts the rest', () => {
  storeSessions(temp.home, ended)
  const limited = { ...EVERYTHING, endedLimit: 20 }
  expect(shown(limited)).toHaveLength(20)
  expect(countHidden(temp.home, limited)).toBe(1_183)
  expect(shown({ ...EVERYTHING, endedSince: 1_600 })).toEqual(['demo-e1202', 'demo-e1201', 'demo-e1200'])
  expect(countHidden(temp.home, { ...limited, isLiveOnly: true })).toBe(0)
  expect(countHidden(temp.home, { ...limited, state: 'failed' })).toBe(0)
})
