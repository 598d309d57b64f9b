import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SessionView } from '../../src/api/contract/responses.ts'
import { run } from '../../src/os/run.ts'
import { TestHome, isAlive, MAIN, waitUntil } from './test-home.ts'

let testHome: TestHome
beforeEach(() => {
  testHome = new TestHome()
})
afterEach(() => testHome.close())

/** Writes numbered lines until a file appears, then says how many bytes it wrote, and exits with 7. */
const COUNTER = `n=0; while [ ! -e go ]; do n=$((n+1)); echo "line $n"; echo "$n" >count; sleep 0.01; done; exit 7`

/** The control group a process is in. */
function groupOf(pid: number): string {
  return fs.readFileSync(`/proc/${pid}/cgroup`, 'utf8')
}

describe.each(['headless', 'tty'] as const)('a %s command', mode => {
  const begin = async (): Promise<SessionView & { pid: number }> => {
    const session = await testHome.run('--name', 'counter', `--${mode}`, '--', 'sh', '-c', COUNTER)
    await waitUntil('it has written', () => (testHome.output(session).length > 100 ? true : undefined))
    return { ...session, pid: session.pid as number }
  }

  /** Ends the command, and expects its whole output. */
  const finish = async (session: SessionView): Promise<void> => {
    fs.writeFileSync(path.join(testHome.project, 'go'), '')
    const end = await testHome.ended(session.name)
    expect(end).toMatchObject({ phase: 'ended', outcome: 'failed', exitCode: 7, signal: null, pid: null, restarts: 0 })
    const count = Number(fs.readFileSync(path.join(testHome.project, 'count'), 'utf8'))
    const lines = Array.from({ length: count }, (_, i) => `line ${i + 1}`)
    const written = testHome.output(session).toString().replaceAll('\r\n', '\n')
    expect(written).toBe(`${lines.join('\n')}\n`)
    expect(await testHome.list()).toMatchObject([{ name: 'command-counter', outcome: 'failed', exitCode: 7 }])
  }

  it('survives kill -9 of the supervisor', async () => {
    const session = await begin()
    const { pid, epoch } = await testHome.daemon()
    process.kill(pid, 'SIGKILL')
    await waitUntil('another supervisor is there', async () => {
      const answer = await testHome.oneshot('daemon', 'status', '--json')
      return answer.code === 0 && JSON.parse(answer.stdout).epoch > epoch ? true : undefined
    })
    expect(await testHome.status(session.name)).toMatchObject({ phase: 'running', pid: session.pid })
    await finish(session)
  })

  it('survives kill -9 of the tmux server, and its pane comes back', async () => {
    const session = await begin()
    const server = await testHome.tmuxServer()
    process.kill(server, 'SIGKILL')
    await waitUntil('the pane is back', async () => {
      const now = await testHome.tmuxServer()
      return Number.isInteger(now) && now > 0 && now !== server ? true : undefined
    })
    expect(await testHome.status(session.name)).toMatchObject({ phase: 'running', pid: session.pid })
    await finish(session)
  })

  it('survives kill -9 of keeper and supervisor together: its shim restarts the supervisor', async () => {
    const session = await begin()
    const { pid } = await testHome.daemon()
    process.kill(Number(fs.readFileSync(testHome.home.keeperPid, 'utf8')), 'SIGKILL')
    process.kill(pid, 'SIGKILL')
    // Threads of a killed process may hold its socket for a moment after its main thread has ended.
    await waitUntil('status reports no supervisor', async () =>
      (await testHome.oneshot('daemon', 'status')).code === 3 ? true : undefined,
    )
    expect(isAlive(pid)).toBe(false)
    expect(await testHome.list()).toMatchObject([{ phase: 'running', pid: session.pid }])
    await finish(session)
    const woken = await testHome.daemon()
    await testHome.ok('clean', '--yes')
    expect(await testHome.daemon(), 'it did not end with the session whose shim woke it').toMatchObject({
      pid: woken.pid,
    })
    expect(groupOf(woken.pid)).not.toContain(session.id)
  })

  it('survives the end of its terminal and kill -9 of a viewer', async () => {
    const socket = path.join(testHome.root, 'user.sock')
    const user = (...args: string[]) =>
      run('tmux', ['-S', socket, '-f', '/dev/null', ...args], { cwd: testHome.project, env: testHome.env })
    await user(
      'new-session',
      '-d',
      '-x',
      '100',
      '-y',
      '30',
      '-s',
      'me',
      `'${process.execPath}' '${path.resolve('dist/main.cjs')}' run --name counter --${mode} --follow -- sh -c '${COUNTER}'`,
    )
    const session = await waitUntil('it runs', async () =>
      (await testHome.list()).find(view => view.phase === 'running' && view.pid !== null),
    )
    await user(
      'new-window',
      '-t',
      'me',
      `'${process.execPath}' '${path.resolve('dist/main.cjs')}' attach ${session.name}`,
    )
    const viewer = await waitUntil('somebody is attached', async () => {
      const target =
        mode === 'tty' ? path.join(testHome.home.terminals, `${session.id}.sock`) : testHome.home.tmuxSocket
      const { stdout } = await run('tmux', [
        '-S',
        target,
        'list-clients',
        '-F',
        '#{client_pid} #{client_tty} #{session_name}',
      ])
      const outer = stdout.split('\n').find(row => row !== '' && !row.includes('not a tty'))
      return outer === undefined ? undefined : Number(outer.split(' ')[0])
    })
    process.kill(viewer, 'SIGKILL')
    await user('kill-server')
    expect(await testHome.status(session.name)).toMatchObject({ phase: 'running', pid: session.pid })
    await finish(session)
  })
})

it('a supervisor replaces its killed keeper each time, and the new keeper restarts the supervisor', {
  tags: ['extended'],
}, async () => {
  const session = await testHome.run('--name', 'steady', '--headless', '--', 'sleep', '1000')
  const { pid, epoch } = await testHome.daemon()
  for (let times = 1; times <= 2; times++) await otherKeeper(Number(fs.readFileSync(testHome.home.keeperPid, 'utf8')))
  process.kill(pid, 'SIGKILL')
  await waitUntil('another supervisor is there', async () => {
    const answer = await testHome.oneshot('daemon', 'status', '--json')
    return answer.code === 0 && JSON.parse(answer.stdout).epoch > epoch ? true : undefined
  })
  expect(await testHome.status('steady')).toMatchObject({ phase: 'running', pid: session.pid })
})

async function otherKeeper(keeper: number): Promise<void> {
  process.kill(keeper, 'SIGKILL')
  await waitUntil('there is another keeper', () => {
    const now = Number(fs.readFileSync(testHome.home.keeperPid, 'utf8'))
    return now !== keeper && isAlive(now) ? true : undefined
  })
}

it('a supervisor starts a new keeper if its keeper died before the supervisor took charge', async () => {
  const { child } = await new Promise<{ child: number }>(resolve => {
    const brief = spawn('true')
    brief.once('exit', () => resolve({ child: brief.pid as number }))
  })
  const env = { ...testHome.env, ONESHOT_KEEPER: String(child) }
  const supervisor = spawn(process.execPath, [MAIN, '__daemon'], { env, stdio: 'ignore' })
  await waitUntil('it has a keeper', () => {
    if (!fs.existsSync(testHome.home.keeperPid)) return undefined
    return isAlive(Number(fs.readFileSync(testHome.home.keeperPid, 'utf8'))) ? true : undefined
  })
  expect(await testHome.daemon()).toMatchObject({ pid: supervisor.pid })
})

it('a shim that restarted the supervisor releases the wake lock', async () => {
  await testHome.run('--name', 'waiter', '--headless', '--', 'sh', '-c', 'until [ -e go ]; do sleep 0.02; done; exit 7')
  const { pid } = await testHome.daemon()
  process.kill(Number(fs.readFileSync(testHome.home.keeperPid, 'utf8')), 'SIGKILL')
  process.kill(pid, 'SIGKILL')
  fs.writeFileSync(testHome.path('go'), '')
  expect(await testHome.ended('waiter')).toMatchObject({ exitCode: 7 })
  const lock = path.join(testHome.home.root, 'wake.lock')
  expect(fs.existsSync(lock)).toBe(true)
  await waitUntil('nobody holds the lock, though keeper and supervisor live', async () =>
    (await run('flock', ['-n', lock, 'true'])).code === 0 ? true : undefined,
  )
  expect((await testHome.oneshot('daemon', 'status')).code).toBe(0)
})

it('run --follow shows the words of an agent from its start, never its raw events', async () => {
  const { stdout } = await testHome.oneshot('run', '--follow', '--agent', 'demo', '--name', 'fast', 'steps=2 delay=1ms')
  expect(stdout.split('\n').slice(0, 3)).toEqual([
    'I will work on: steps=2 delay=1ms',
    '• step 1 of 2',
    '• step 2 of 2',
  ])
})

it('a supervisor that a session started survives that session, and so do the agents it starts', async () => {
  await testHome.ok('daemon', 'start')
  const { pid: first } = await testHome.daemon()
  // A session may not stop the supervisor by asking; it can only kill it, and its next command starts another.
  const gate = testHome.path('gate')
  const wait = `until [ -e '${gate}' ]; do sleep 0.05; done`
  const line = `${wait}; kill -9 "$(cat '${testHome.home.keeperPid}')" ${first}; exec '${process.execPath}' '${MAIN}' daemon start`
  const inner = await testHome.run('--name', 'inner', '--headless', '--', 'sh', '-c', line)
  fs.writeFileSync(gate, '')
  expect(await testHome.ended('inner')).toMatchObject({ outcome: 'done' })
  const { pid } = await testHome.daemon()
  expect(pid).not.toBe(first)
  const { pid: agent } = await testHome.run('--name', 'after', '--tty', '--', 'sleep', '1000')
  await testHome.ok('clean', 'inner')
  expect(groupOf(pid)).not.toContain(inner.id)
  expect(groupOf(agent as number)).not.toContain(inner.id)
  expect(fs.readFileSync(`/proc/${pid}/environ`, 'latin1')).not.toContain('ONESHOT_ATTEMPT=')
  expect(await testHome.daemon()).toMatchObject({ pid })
  expect(isAlive(agent as number)).toBe(true)
})
