import fs from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { SessionView } from '../../src/api/contract/responses.ts'
import { readBoard } from '../../src/views/loop/read-board.ts'
import { TestHome, waitUntil } from '../system/test-home.ts'
import { restoreRecordedHome } from './recorded-home.ts'

/** Sessions in every phase and a loop at its second task. A power cut has ended their processes. */
const VERSION = '0.1.0'

let testHome: TestHome
let recording: ReturnType<typeof restoreRecordedHome>
beforeEach(() => {
  testHome = new TestHome({ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' })
  testHome.env['PATH'] = `${testHome.root}/bin:${testHome.env['PATH']}`
  testHome.env['GATE'] = `${testHome.root}/gate`
  recording = restoreRecordedHome(testHome, VERSION)
})
afterEach(() => testHome.close())

function linesOf(name: string): string[] {
  return fs.readFileSync(`${testHome.root}/notes/${name}`, 'utf8').trim().split('\n')
}

function steps(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `step ${at + 1}`)
}

it('a command without a supervisor lists the sessions of 0.1.0 as 0.1.0 did, and adds that no supervisor runs', async () => {
  const listed = (await testHome.list()).map(({ isUnsupervised, ...view }) =>
    isUnsupervised ? { ...view, reason: view.reason?.replace('no supervisor runs', 'not concluded yet') } : view,
  )
  expect(listed).toEqual(recording.listed)
})

it('the supervisor brings every live session of 0.1.0 to its end, and the loop finishes its list', async () => {
  fs.writeFileSync(`${testHome.root}/gate`, '')
  await testHome.ok('daemon', 'start')
  const ends = async (name: string): Promise<Partial<SessionView>> => {
    const { outcome, attempt, reason } = await testHome.ended(name, 60_000)
    return { outcome, attempt, reason }
  }
  expect(await ends('stopping')).toMatchObject({ outcome: 'stopped', attempt: 1 })
  expect(await ends('verifying')).toMatchObject({ outcome: 'done', attempt: 1 })
  expect(await ends('command'), 'oneshot runs a command once').toMatchObject({ outcome: 'failed', attempt: 1 })
  expect(await ends('resting')).toMatchObject({ outcome: 'done', attempt: 2 })
  expect(await ends('asking')).toMatchObject({ outcome: 'done', attempt: 2 })
  expect(linesOf('asking.txt')).toEqual(steps(2))
  expect(await ends('running'), 'attempt 3 delivers the message').toMatchObject({ outcome: 'done', attempt: 3 })
  expect(linesOf('running.txt')).toEqual(steps(6))
  expect(linesOf('message.txt')).toEqual(steps(2))
  expect(await ends('ralph-list')).toMatchObject({ outcome: 'done', reason: '3 of 3 tasks done and proven' })
  const board = readBoard(testHome.home, await testHome.status('ralph-list'), Date.now())
  expect(board?.tasks.map(({ tries }) => tries)).toEqual([1, 1, 1])
})

it('a person resumes the held and the ended sessions of 0.1.0', async () => {
  await testHome.ok('daemon', 'start')
  expect(await testHome.status('held')).toMatchObject({ phase: 'blocked', trouble: 'held', attempt: 1 })
  await testHome.ok('resume', 'held')
  expect(await testHome.ended('held')).toMatchObject({ outcome: 'done', attempt: 2 })
  expect(linesOf('held.txt')).toEqual(steps(9))
  for (const [name, message] of [
    ['finished', 'work steps=1 delay=1ms'],
    ['failed', 'try again steps=1 delay=1ms'],
  ] as const) {
    await testHome.ok('send', name, message)
    await waitUntil('it has ended again', async () => {
      const { phase, attempt } = await testHome.status(name)
      return phase === 'ended' && attempt === 2 ? true : undefined
    })
    expect(await testHome.status(name)).toMatchObject({ outcome: 'done' })
  }
})
