import { afterEach, beforeEach, expect, it } from 'vitest'
import fs from 'node:fs'
import path from 'node:path'
import { TestHome, isAlive, waitUntil } from './test-home.ts'

let testHome: TestHome
beforeEach(() => {
  testHome = new TestHome()
})
afterEach(() => testHome.close())

/** Pids that the script wrote down, one per line. */
async function pids(count: number): Promise<number[]> {
  const file = path.join(testHome.project, 'pids')
  return waitUntil(`${count} pids are written`, () => {
    const found = fs.existsSync(file)
      ? fs
          .readFileSync(file, 'utf8')
          .split('\n')
          .filter(line => line !== '')
      : []
    return found.length >= count ? found.map(Number) : undefined
  })
}

it.each(['headless', 'tty'])(
  'stop ends the whole process tree of a %s command, in any process group or session',
  async mode => {
    const script = [
      'echo $$ >>pids',
      'sleep 1000 & echo $! >>pids',
      'setsid sleep 1001 & echo $! >>pids',
      'setsid sh -c "echo \\$\\$ >>pids; sleep 1002 & echo \\$! >>pids; wait" &',
      '(trap "" INT TERM HUP; echo started >/dev/null; while :; do sleep 1; done) & echo $! >>pids',
      'wait',
    ].join('\n')
    await testHome.run('--name', 'tree', `--${mode}`, '--', 'sh', '-c', script)
    const tree = await pids(6)
    expect(tree.every(isAlive)).toBe(true)
    await testHome.ok('stop', 'tree')
    expect(tree.filter(isAlive)).toEqual([])
    expect(await testHome.status('tree')).toMatchObject({ phase: 'ended', outcome: 'stopped', pid: null })
  },
)

it('stop kills a program that ignores SIGINT and SIGTERM', async () => {
  testHome.env['ONESHOT_TEST_TIMINGS'] = 'interruptGrace=300 terminateGrace=300'
  const session = await testHome.run(
    '--name',
    'deaf',
    '--headless',
    '--',
    'sh',
    '-c',
    'trap "" INT TERM; while :; do sleep 0.2; done',
  )
  await testHome.ok('stop', 'deaf')
  expect(isAlive(session.pid as number)).toBe(false)
  expect(await testHome.status('deaf')).toMatchObject({ outcome: 'stopped', signal: 'SIGKILL' })
})

it('stop sends SIGINT first, so that a program can save its work', async () => {
  const script = 'trap "echo saved >saved; exit 0" INT; echo ready >ready; while :; do sleep 0.05; done'
  await testHome.run('--name', 'saver', '--headless', '--', 'sh', '-c', script)
  await waitUntil('it is ready', () => (fs.existsSync(path.join(testHome.project, 'ready')) ? true : undefined))
  await testHome.ok('stop', 'saver')
  expect(fs.readFileSync(path.join(testHome.project, 'saved'), 'utf8')).toBe('saved\n')
  expect(await testHome.status('saver')).toMatchObject({ outcome: 'stopped', exitCode: 0 })
})

it('the supervisor ends the processes that a finished program left before the session is done', async () => {
  await testHome.run('--name', 'litter', '--headless', '--', 'sh', '-c', 'setsid sleep 1003 & echo $! >>pids; exit 0')
  expect((await testHome.oneshot('wait', 'litter')).code).toBe(0)
  expect((await pids(1)).filter(isAlive)).toEqual([])
})

it('stop ends a session that rests after a crash', async () => {
  await testHome.run('--agent', 'demo', '--name', 'unlucky', 'steps=2 delay=10ms crash=always')
  await waitUntil('it rests', async () => ((await testHome.status('unlucky')).phase === 'resting' ? true : undefined))
  await testHome.ok('stop', 'unlucky')
  const end = await testHome.status('unlucky')
  expect(end).toMatchObject({ phase: 'ended', outcome: 'stopped' })
})
