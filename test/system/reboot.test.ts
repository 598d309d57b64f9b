import fs from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { SessionView } from '../../src/api/contract/responses.ts'
import { attemptFolder } from '../../src/state/session-folder.ts'
import { ProcessHome, type TestHome, waitUntil } from './test-home.ts'
import { simulateReboot } from './simulate-reboot.ts'

let testHome: TestHome
beforeEach(() => {
  testHome = new ProcessHome()
})
afterEach(() => testHome.close())

/** Starts a session and waits until its agent, which has taken two of thirty steps, falls silent. */
async function begun(name: string): Promise<SessionView> {
  const session = await testHome.run(
    '--agent',
    'demo',
    '--name',
    name,
    `work steps=30 delay=5ms write=${name}.txt hang=3`,
  )
  await testHome.hangs(name)
  return session
}

function linesOf(name: string): string[] {
  const file = testHome.path(`${name}.txt`)
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim().split('\n') : []
}

async function is(name: string, phase: SessionView['phase']): Promise<SessionView> {
  return await waitUntil(`${name} is ${phase}`, async () => {
    const view = await testHome.status(name)
    return view.phase === phase ? view : undefined
  })
}

it('after a reboot the supervisor continues an agent in its thread, keeps a held session held, and starts no command twice', async () => {
  await begun('auth')
  await begun('still')
  await testHome.ok('hold', 'still')
  await testHome.run('--name', 'deploy', '--headless', '--', 'sleep', '1000')
  await simulateReboot(testHome)
  expect(await testHome.status('auth'), 'the dead are not shown as running').toMatchObject({
    phase: 'stopping',
    pid: null,
  })
  await testHome.ok('daemon', 'start')
  expect(await testHome.ended('auth')).toMatchObject({ outcome: 'done', attempt: 2, restarts: 0 })
  expect(linesOf('auth')).toEqual(Array.from({ length: 30 }, (_, at) => `step ${at + 1}`))
  expect(await testHome.ok('events', 'auth')).toContain('the machine was restarted; continues')
  expect(await testHome.status('still')).toMatchObject({ phase: 'blocked', trouble: 'held', attempt: 1 })
  expect(await testHome.ended('deploy')).toMatchObject({ outcome: 'failed', reason: 'the machine was restarted' })
})

it('after a reboot a resting session continues when its rest is due', async () => {
  await testHome.run(
    '--agent',
    'demo',
    '--name',
    'auth',
    '-c',
    'restart-delay=3s',
    'work steps=1 delay=1ms crash=always',
  )
  const { until: due } = await waitUntil('it rests', async () => {
    const view = await testHome.status('auth')
    return view.phase === 'resting' && view.restarts > 0 ? view : undefined
  })
  await simulateReboot(testHome)
  expect(await testHome.status('auth')).toMatchObject({ phase: 'resting', until: due })
  await testHome.ok('daemon', 'start')
  await waitUntil('it went on', async () => ((await testHome.status('auth')).attempt > 2 ? true : undefined))
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(due as string))
})

it('a supervisor in safe mode holds all sessions until the user resumes them', { tags: ['extended'] }, async () => {
  await begun('auth')
  await simulateReboot(testHome)
  await testHome.ok('daemon', 'start', '--no-resume')
  expect(await is('auth', 'blocked')).toMatchObject({
    trouble: 'held',
    attempt: 1,
    reason: 'held: the supervisor was started with --no-resume',
  })
  expect((await testHome.oneshot('daemon', 'start', '--no-resume')).code, 'too late').toBe(6)
  await testHome.ok('resume', 'auth')
  expect(await testHome.ended('auth')).toMatchObject({ outcome: 'done', attempt: 2 })
  await begun('next')
  process.kill((await testHome.daemon()).pid, 'SIGKILL')
  await waitUntil('another is there', async () =>
    (await testHome.oneshot('daemon', 'status')).code === 0 ? true : undefined,
  )
  expect(await testHome.status('next'), 'safe mode is over').toMatchObject({ phase: 'running', attempt: 1 })
})

it('a supervisor with ONESHOT_NO_RESUME holds all sessions once at boot, and not again after a restart', {
  tags: ['extended'],
}, async () => {
  await begun('auth')
  await simulateReboot(testHome)
  testHome.env['ONESHOT_NO_RESUME'] = '1'
  await testHome.ok('daemon', 'start')
  expect(await is('auth', 'blocked')).toMatchObject({ trouble: 'held' })
  await testHome.run(
    '--agent',
    'demo',
    '--name',
    'crashing',
    '-c',
    'restart-delay=5s',
    'work crash=always steps=1 delay=1ms',
  )
  await waitUntil('it rests', async () => ((await testHome.status('crashing')).restarts > 0 ? true : undefined))
  await is('crashing', 'resting')
  process.kill((await testHome.daemon()).pid, 'SIGKILL')
  await waitUntil('another is there', async () =>
    (await testHome.oneshot('daemon', 'status')).code === 0 ? true : undefined,
  )
  expect((await testHome.status('crashing')).phase, 'its rest goes on').not.toBe('blocked')
})

it('after a reboot a session waits for the user if it last worked long ago or its folder is gone', {
  tags: ['extended'],
}, async () => {
  const old = await begun('old')
  await begun('lost')
  await simulateReboot(testHome)
  const { stdout, stderr, started } = attemptFolder(testHome.home, old.id, 1)
  const longAgo = Date.now() / 1000 - 17 * 86_400
  for (const file of [stdout, stderr, started]) fs.utimesSync(file, longAgo, longAgo)
  fs.renameSync(testHome.project, `${testHome.project}.away`)
  try {
    await testHome.call(['daemon', 'start'], { cwd: testHome.root })
    const status = async (name: string): Promise<SessionView> => {
      const { stdout: text } = await testHome.call(['status', name, '--json'], { cwd: testHome.root })
      return JSON.parse(text) as SessionView
    }
    const blocked = (name: string): Promise<SessionView> =>
      waitUntil(`${name} waits`, async () => {
        const view = await status(name)
        return view.phase === 'blocked' ? view : undefined
      })
    expect((await blocked('old')).reason).toBe(
      'waiting for you: the machine was restarted, and it last worked 17 d ago',
    )
    expect((await blocked('lost')).reason).toBe(`waiting for you: its folder ${testHome.project} is gone`)
  } finally {
    fs.renameSync(`${testHome.project}.away`, testHome.project)
  }
  await testHome.ok('resume', 'old')
  await testHome.ok('resume', 'lost')
  expect(await testHome.ended('old')).toMatchObject({ outcome: 'done' })
  expect(await testHome.ended('lost')).toMatchObject({ outcome: 'done' })
})
