import fs from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { SessionView } from '../../src/api/contract/session-view.ts'
import { attemptFolder } from '../../src/world/os/folders.ts'
import { House, until } from './house.ts'
import { reboot } from './reboot.ts'

let house: House
beforeEach(() => {
  house = new House()
})
afterEach(() => house.close())

/** Has taken two of its thirty steps. */
async function begun(name: string): Promise<SessionView> {
  const session = await house.run('--agent', 'demo', '--name', name, `work steps=30 delay=60ms write=${name}.txt`)
  await until(`${name} has taken two steps`, () => (linesOf(name).length >= 2 ? true : undefined))
  return session
}

function linesOf(name: string): string[] {
  const file = house.path(`${name}.txt`)
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim().split('\n') : []
}

async function is(name: string, phase: SessionView['phase']): Promise<SessionView> {
  return await until(`${name} is ${phase}`, async () => {
    const view = await house.status(name)
    return view.phase === phase ? view : undefined
  })
}

it('what was at work goes on in its thread, what was held stands still, a command is not started twice', async () => {
  await begun('auth')
  await begun('still')
  await house.ok('hold', 'still')
  await house.run('--name', 'deploy', '--headless', '--', 'sleep', '1000')
  await reboot(house)
  expect(await house.status('auth'), 'the dead are not shown as running').toMatchObject({
    phase: 'stopping',
    pid: null,
  })
  await house.ok('daemon', 'start')
  expect(await house.ended('auth')).toMatchObject({ outcome: 'done', attempt: 2, restarts: 0 })
  expect(linesOf('auth')).toEqual(Array.from({ length: 30 }, (_, at) => `step ${at + 1}`))
  expect(await house.ok('events', 'auth')).toContain('the machine was restarted; continues')
  expect(await house.status('still')).toMatchObject({ phase: 'blocked', trouble: 'held', attempt: 1 })
  expect(await house.ended('deploy')).toMatchObject({ outcome: 'failed', reason: 'the machine was restarted' })
})

it('a rest goes on when it is due, however long the machine was off', async () => {
  await house.run('--agent', 'demo', '--name', 'auth', '-c', 'restart-delay=3s', 'work steps=1 delay=1ms crash=always')
  const { until: due } = await until('it rests', async () => {
    const view = await house.status('auth')
    return view.phase === 'resting' && view.restarts > 0 ? view : undefined
  })
  await reboot(house)
  expect(await house.status('auth')).toMatchObject({ phase: 'resting', until: due })
  await house.ok('daemon', 'start')
  await until('it went on', async () => ((await house.status('auth')).attempt > 2 ? true : undefined))
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(due as string))
})

it('in safe mode nothing is started until it is resumed', async () => {
  await begun('auth')
  await reboot(house)
  await house.ok('daemon', 'start', '--no-resume')
  expect(await is('auth', 'blocked')).toMatchObject({
    trouble: 'held',
    attempt: 1,
    reason: 'held: the supervisor was started with --no-resume',
  })
  expect((await house.oneshot('daemon', 'start', '--no-resume')).code, 'too late').toBe(6)
  await house.ok('resume', 'auth')
  expect(await house.ended('auth')).toMatchObject({ outcome: 'done', attempt: 2 })
  await begun('next')
  process.kill((await house.daemon()).pid, 'SIGKILL')
  await until('another is there', async () => ((await house.oneshot('daemon', 'status')).code === 0 ? true : undefined))
  expect(await house.status('next'), 'safe mode is over').toMatchObject({ phase: 'running', attempt: 1 })
})

it('a supervisor that is started in safe mode at each boot holds everything once, and not again when it is brought back', async () => {
  await begun('auth')
  await reboot(house)
  house.env['ONESHOT_NO_RESUME'] = '1'
  await house.ok('daemon', 'start')
  expect(await is('auth', 'blocked')).toMatchObject({ trouble: 'held' })
  await house.run(
    '--agent',
    'demo',
    '--name',
    'crashing',
    '-c',
    'restart-delay=5s',
    'work crash=always steps=1 delay=1ms',
  )
  await until('it rests', async () => ((await house.status('crashing')).restarts > 0 ? true : undefined))
  await is('crashing', 'resting')
  process.kill((await house.daemon()).pid, 'SIGKILL')
  await until('another is there', async () => ((await house.oneshot('daemon', 'status')).code === 0 ? true : undefined))
  expect((await house.status('crashing')).phase, 'its rest goes on').not.toBe('blocked')
})

it('what was at work too long ago, or has lost its folder, waits for you', async () => {
  const old = await begun('old')
  await begun('lost')
  await reboot(house)
  const { stdout, stderr, started } = attemptFolder(house.home, old.id, 1)
  const longAgo = Date.now() / 1000 - 17 * 86_400
  for (const file of [stdout, stderr, started]) fs.utimesSync(file, longAgo, longAgo)
  fs.renameSync(house.project, `${house.project}.away`)
  try {
    await house.call(['daemon', 'start'], { cwd: house.root })
    const status = async (name: string): Promise<SessionView> => {
      const { stdout: text } = await house.call(['status', name, '--json'], { cwd: house.root })
      return JSON.parse(text) as SessionView
    }
    const blocked = (name: string): Promise<SessionView> =>
      until(`${name} waits`, async () => {
        const view = await status(name)
        return view.phase === 'blocked' ? view : undefined
      })
    expect((await blocked('old')).reason).toBe(
      'waiting for you: the machine was restarted, and it last worked 17 d ago',
    )
    expect((await blocked('lost')).reason).toBe(`waiting for you: its folder ${house.project} is gone`)
  } finally {
    fs.renameSync(`${house.project}.away`, house.project)
  }
  await house.ok('resume', 'old')
  await house.ok('resume', 'lost')
  expect(await house.ended('old')).toMatchObject({ outcome: 'done' })
  expect(await house.ended('lost')).toMatchObject({ outcome: 'done' })
})
