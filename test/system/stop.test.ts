import { afterEach, beforeEach, expect, it } from 'vitest'
import fs from 'node:fs'
import path from 'node:path'
import { House, isAlive, until } from './house.ts'

let house: House
beforeEach(() => {
  house = new House()
})
afterEach(() => house.close())

/** Pids that the script wrote down, one per line. */
async function pids(count: number): Promise<number[]> {
  const file = path.join(house.project, 'pids')
  return until(`${count} pids are written`, () => {
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
  'stop leaves nothing of a %s process tree, whatever group or session it hides in',
  async mode => {
    const script = [
      'echo $$ >>pids',
      'sleep 1000 & echo $! >>pids',
      'setsid sleep 1001 & echo $! >>pids',
      'setsid sh -c "echo \\$\\$ >>pids; sleep 1002 & echo \\$! >>pids; wait" &',
      '(trap "" INT TERM HUP; echo started >/dev/null; while :; do sleep 1; done) & echo $! >>pids',
      'wait',
    ].join('\n')
    await house.run('--name', 'tree', `--${mode}`, '--', 'sh', '-c', script)
    const tree = await pids(6)
    expect(tree.every(isAlive)).toBe(true)
    await house.ok('stop', 'tree')
    expect(tree.filter(isAlive)).toEqual([])
    expect(await house.status('tree')).toMatchObject({ phase: 'ended', outcome: 'stopped', pid: null })
  },
)

it('a program that is deaf to interrupt and terminate is killed', async () => {
  const session = await house.run(
    '--name',
    'deaf',
    '--headless',
    '--',
    'sh',
    '-c',
    'trap "" INT TERM; while :; do sleep 0.2; done',
  )
  await house.ok('stop', 'deaf')
  expect(isAlive(session.pid as number)).toBe(false)
  expect(await house.status('deaf')).toMatchObject({ outcome: 'stopped', signal: 'SIGKILL' })
})

it('an interrupt comes first, so that a program can save what it has', async () => {
  const script = 'trap "echo saved >saved; exit 0" INT; echo ready >ready; while :; do sleep 0.05; done'
  await house.run('--name', 'saver', '--headless', '--', 'sh', '-c', script)
  await until('it is ready', () => (fs.existsSync(path.join(house.project, 'ready')) ? true : undefined))
  await house.ok('stop', 'saver')
  expect(fs.readFileSync(path.join(house.project, 'saved'), 'utf8')).toBe('saved\n')
  expect(await house.status('saver')).toMatchObject({ outcome: 'stopped', exitCode: 0 })
})

it('what a finished program left running is ended before it is called done', async () => {
  await house.run('--name', 'litter', '--headless', '--', 'sh', '-c', 'setsid sleep 1003 & echo $! >>pids; exit 0')
  expect((await house.oneshot('wait', 'litter')).code).toBe(0)
  expect((await pids(1)).filter(isAlive)).toEqual([])
})

it('a session that rests after a crash is stopped for good', async () => {
  await house.run('--agent', 'demo', '--name', 'unlucky', 'steps=2 delay=10ms crash=always')
  await until('it rests', async () => ((await house.status('unlucky')).phase === 'resting' ? true : undefined))
  await house.ok('stop', 'unlucky')
  const end = await house.status('unlucky')
  expect(end).toMatchObject({ phase: 'ended', outcome: 'stopped' })
})
