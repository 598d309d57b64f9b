import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { SessionView } from '../../src/api/contract/responses.ts'
import { attemptFolder, sessionFolder } from '../../src/state/session-folder.ts'
import { TestHome, kill, waitUntil } from './test-home.ts'

let testHome: TestHome
beforeEach(() => {
  testHome = new TestHome({ ONESHOT_TEST_TIMINGS: 'troublePause=300' })
})
afterEach(() => testHome.close())

/** Waits until `status` shows at least this number of failures in a row. */
function failures(name: string, count: number): Promise<NonNullable<SessionView['repeatedTrouble']>> {
  return waitUntil(
    `${name} has failed ${count} times`,
    async () => {
      const { repeatedTrouble } = await testHome.status(name)
      return (repeatedTrouble?.count ?? 0) >= count ? repeatedTrouble : undefined
    },
    40_000,
  )
}

it('status shows an action that keeps failing, over the death of the supervisor, until it succeeds', async () => {
  const { id } = await testHome
    .call(
      ['run', '--json', '--name', 'stuck', '--headless', '--', 'sh', '-c', 'until [ -e go ]; do sleep 0.02; done'],
      // The path in the error message contains the value of this secret.
      { env: { MY_API_TOKEN: path.basename(testHome.root) } },
    )
    .then(({ stdout }) => JSON.parse(stdout) as SessionView)
  await waitUntil('it runs', async () => (await testHome.status('stuck')).pid ?? undefined)
  // The sweep empties this file. A folder in its place lets each sweep fail, also for root.
  const { enter } = attemptFolder(testHome.home, id, 1)
  fs.rmSync(enter)
  fs.mkdirSync(enter)
  fs.writeFileSync(testHome.path('go'), '')

  const first = await failures('stuck', 2)
  expect(Object.keys(first).toSorted()).toEqual(['count', 'doing', 'reason', 'since'])
  expect(first).toMatchObject({ doing: 'ending the processes of attempt 1', reason: expect.stringContaining('EISDIR') })
  expect(await testHome.status('stuck')).toMatchObject({ phase: 'stopping' })
  expect(first.reason).not.toContain(path.basename(testHome.root))
  expect(await testHome.ok('status', 'stuck')).toMatch(
    /^ +trouble +ending the processes of attempt 1 failed \d+ times since \S+Z: EISDIR.*; oneshot tries again$/m,
  )
  expect(JSON.parse(await testHome.ok('status', 'stuck', '--field', 'repeatedTrouble'))).toMatchObject({
    since: first.since,
  })

  kill((await testHome.daemon()).pid)
  const later = await failures('stuck', first.count + 2)
  expect(later).toMatchObject({ doing: first.doing, since: first.since })

  fs.rmdirSync(enter)
  const view = await testHome.ended('stuck')
  expect(view).toMatchObject({ outcome: 'done', exitCode: 0 })
  expect(view).not.toHaveProperty('repeatedTrouble')
  expect(await testHome.ok('status', 'stuck', '--field', 'repeatedTrouble')).toBe('')
  await waitUntil(
    'the record is gone',
    async () => !fs.existsSync(sessionFolder(testHome.home, id).trouble) || undefined,
  )
})
