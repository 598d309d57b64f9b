import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { run } from '../../src/os/run.ts'
import { readEvents, readStoredSession } from '../../src/world/store/reader.ts'
import { TestHome, isAlive, MAIN, waitUntil } from './test-home.ts'

let testHome: TestHome
beforeEach(() => {
  testHome = new TestHome()
})
afterEach(() => testHome.close())

it('a second supervisor refuses to start and names the first', async () => {
  await testHome.ok('daemon', 'start')
  const { pid, epoch } = await testHome.daemon()
  const second = await run(process.execPath, [MAIN, '__daemon'], { env: testHome.env, timeout: 20_000 })
  expect(second.code).toBe(6)
  expect(second.stdout).toContain(`a supervisor is already running: pid ${pid}, epoch ${epoch}`)
  expect(await testHome.daemon()).toMatchObject({ pid, epoch })
})

it('several supervisors that start at once leave exactly one', async () => {
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => testHome.run('--headless', '--', 'sh', '-c', 'exit 0')),
  )
  expect(new Set(answers.map(answer => answer.name)).size).toBe(6)
  await waitUntil('the others have left', () => (supervisors().length === 1 ? true : undefined))
  expect(await testHome.list()).toHaveLength(6)
})

function supervisors(): string[] {
  return fs
    .readdirSync('/proc')
    .filter(pid => /^\d+$/.test(pid))
    .filter(pid => {
      try {
        const isDaemon = fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('__daemon')
        return isDaemon && fs.readFileSync(`/proc/${pid}/environ`, 'latin1').includes(testHome.root)
      } catch {
        return false // It has ended meanwhile.
      }
    })
}

it('a suspended supervisor changes nothing when it continues after another one took over', {
  tags: ['extended'],
}, async () => {
  const session = await testHome.run(
    '--name',
    'long',
    '--headless',
    '--',
    'sh',
    '-c',
    'while [ ! -e go ]; do sleep 0.05; done; exit 5',
  )
  const old = await testHome.daemon()
  process.kill(old.pid, 'SIGSTOP')
  try {
    await testHome.ok('daemon', 'start')
    const now = await testHome.daemon()
    expect(now.epoch).toBe(old.epoch + 1)
    expect(now.pid).not.toBe(old.pid)
    expect(await testHome.status('long')).toMatchObject({ phase: 'running', pid: session.pid })
    fs.writeFileSync(path.join(testHome.project, 'go'), '')
    expect(await testHome.ended('long')).toMatchObject({ outcome: 'failed', exitCode: 5 })
    const recorded = (): unknown => ({
      session: readStoredSession(testHome.home, session.id),
      events: readEvents(testHome.home, session.id),
    })
    const before = recorded()
    process.kill(old.pid, 'SIGCONT')
    await waitUntil('the old one has left', () => (isAlive(old.pid) ? undefined : true))
    // The file itself may differ: SQLite moves what the new supervisor wrote from the log into it at any time.
    expect(recorded()).toEqual(before)
    expect(await testHome.daemon()).toMatchObject({ pid: now.pid, epoch: now.epoch })
  } finally {
    if (isAlive(old.pid)) process.kill(old.pid, 'SIGCONT')
  }
})
