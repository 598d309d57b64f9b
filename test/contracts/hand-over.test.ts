import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { invariant } from '../../src/lib/trouble.ts'
import type { LaunchOrder } from '../../src/ports/work.ts'
import { processesOf, tmuxServerOn } from '../../src/testkit/real/process-list.ts'
import { attemptFolder } from '../../src/world/os/folders.ts'
import { lives, type ProcessId } from '../../src/world/os/processes.ts'
import { readClaim } from '../../src/world/os/spool.ts'
import { which } from '../../src/world/os/which.ts'
import { installPrograms } from '../../src/world/tmux/install.ts'
import { Panes } from '../../src/world/tmux/panes.ts'
import { findTmux } from '../../src/world/tmux/tmux.ts'
import { TmuxWork } from '../../src/world/tmux/work.ts'
import { openTmuxBench, type TmuxBench } from './tmux-bench.ts'
import { next, said } from './work-bench.ts'

let bench: TmuxBench
beforeEach(() => {
  bench = openTmuxBench('headless')
})
afterEach(() => bench.close())

function shimOf(order: LaunchOrder): ProcessId {
  const claim = readClaim(attemptFolder(bench.home, order.sessionId, order.attempt))
  invariant(claim !== null, 'nobody has taken the attempt')
  return claim
}

function tmux(...args: string[]): string {
  return spawnSync('tmux', ['-S', bench.home.tmuxSocket, ...args], { encoding: 'utf8' }).stdout
}

function panes(order: LaunchOrder): string[] {
  return tmux('list-panes', '-s', '-t', `=${order.name}`, '-F', '#{pane_id} #{pane_pid}').trim().split('\n')
}

/** A work plane whose shims are run by this shell. */
function workWith(shell: string): TmuxWork {
  const folder = path.join(bench.home.root, 'shell')
  fs.mkdirSync(folder)
  fs.symlinkSync(shell, path.join(folder, 'sh'))
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` }
  return new TmuxWork(bench.home, new Panes(bench.home, () => findTmux(env), installPrograms(bench.home)))
}

/** An attempt that has ended; its shim waits. */
async function ended(script: string): Promise<LaunchOrder> {
  const order = await bench.run(['/bin/sh', '-c', script])
  await bench.work.launch(order)
  await bench.until('it has ended', () => bench.work.evidence(order).exit !== null)
  return order
}

async function staysAlive(order: LaunchOrder): Promise<void> {
  await bench.until('it has spoken', () => said(bench.work, order).includes('ready'))
  expect(bench.work.evidence(order)).toMatchObject({ process: 'alive', shim: 'alive', refusal: null })
}

/** The first time it dies, and then it stays. */
const TWICE = 'if [ -e once ]; then echo ready; exec sleep 1000; fi; : >once; kill -KILL $$'

describe('the shim of an attempt that has ended', () => {
  test('is called to the next one, in the same pane, and nothing else is started', async () => {
    const first = await ended(TWICE)
    const before = panes(first)
    const second = next(first)
    await bench.work.launch(second)
    await staysAlive(second)
    expect(shimOf(second)).toEqual(shimOf(first))
    expect(panes(second)).toEqual(before)
    const shims = processesOf(`${bench.home.root}/bin/shim`).filter(({ command }) => command.startsWith('sh '))
    expect(shims.map(({ pid }) => pid)).toEqual([shimOf(first).pid])
    await bench.work.sweep(first, { force: true })
    await bench.work.launch(second)
    expect(bench.work.evidence(second)).toMatchObject({ process: 'alive', shim: 'alive' })
    await bench.work.sweep(second, { force: true })
    expect(lives(shimOf(second))).toBe('dead')
    expect(bench.work.evidence(second).exit).toEqual({ kind: 'signal', signal: 'SIGKILL' })
  })

  test.each(['dash', 'bash'])('tells how each of them ended, one after the other, where sh is %s', async name => {
    const shell = which(name, process.env, '/')
    if (shell === undefined) return
    const work = workWith(shell)
    const script =
      'n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) >n; [ $n = 1 ] && kill -SEGV $$; exit $((n + 135))'
    let order = await bench.run(['/bin/sh', '-c', script])
    const exits: unknown[] = []
    for (let times = 0; times < 4; times++) {
      await work.launch(order)
      await bench.until('it has ended', () => work.evidence(order).exit !== null)
      exits.push(work.evidence(order).exit)
      if (times < 3) order = next(order)
    }
    const signal = { kind: 'signal', signal: 'SIGSEGV' }
    const codes = [135, 137, 138].map(code => ({ kind: 'code', code }))
    expect(exits).toEqual([codes[0], signal, codes[1], codes[2]])
    expect(shimOf(order)).toEqual(shimOf({ ...order, attempt: 1 }))
    expect(fs.readlinkSync(`/proc/${shimOf(order).pid}/exe`)).toBe(fs.realpathSync(shell))
  })

  test('keeps whoever is attached', async () => {
    const first = await ended(TWICE)
    const viewer = path.join(bench.home.root, 'viewer.sock')
    const view = (...args: string[]): string =>
      spawnSync('tmux', ['-S', viewer, '-f', '/dev/null', ...args], { encoding: 'utf8' }).stdout
    await bench.work.sweep(first, { force: true })
    const second = next(first)
    fs.rmSync(path.join(second.cwd, 'once'))
    await bench.work.launch(second)
    const attach = ['env', '-u', 'TMUX', 'tmux', '-S', bench.home.tmuxSocket, 'attach', '-t', `=${first.name}`]
    await bench.until('it has ended', () => bench.work.evidence(second).exit !== null)
    view('new-session', '-d', '-x', '100', '-y', '30', ...attach)
    try {
      const third = next(second)
      await bench.work.launch(third)
      await staysAlive(third)
      expect(tmux('list-clients', '-F', '#{session_name}').trim()).toBe(third.name)
    } finally {
      view('kill-server')
    }
  })

  test.each<[string, (order: LaunchOrder) => number | undefined]>([
    ['was killed', order => shimOf(order).pid],
    ['lost its terminal with the tmux server', () => tmuxServerOn(bench.home.tmuxSocket)],
  ])('and that %s is replaced by another in a pane of its own', async (_, victim) => {
    const first = await ended(TWICE)
    const pid = victim(first)
    invariant(pid !== undefined, 'the one to be killed is not there')
    process.kill(pid, 'SIGKILL')
    await bench.until('it is gone', () => lives(shimOf(first)) === 'dead')
    const second = next(first)
    await bench.work.launch(second)
    await staysAlive(second)
    expect(shimOf(second)).not.toEqual(shimOf(first))
    expect(lives(shimOf(first))).toBe('dead')
    expect(bench.alive(second)).toBe(1)
  })

  test('and that runs another version of the program is not called: it may not know what that means', async () => {
    const first = await ended(TWICE)
    const programs = { shim: path.join(bench.home.programs, 'shim-of-another-version'), recorder: '' }
    fs.copyFileSync(path.join(bench.home.programs, bench.panes.shimProgram), programs.shim)
    const updated = new TmuxWork(bench.home, new Panes(bench.home, () => findTmux(process.env), programs))
    const second = next(first)
    await updated.launch(second)
    await staysAlive(second)
    expect(shimOf(second)).not.toEqual(shimOf(first))
    expect(lives(shimOf(first))).toBe('dead')
  })

  test('is called by two supervisors at once, and one process comes of it', async () => {
    const first = await ended(TWICE)
    const second = next(first)
    await Promise.all([bench.work.launch(second), bench.another().launch(second), bench.another().launch(second)])
    await staysAlive(second)
    expect(bench.alive(second)).toBe(1)
    expect(said(bench.work, second)).toBe('ready\n')
  })

  test('does not go on once somebody sweeps its attempt', async () => {
    const first = await ended(TWICE)
    fs.writeFileSync(attemptFolder(bench.home, first.sessionId, first.attempt).swept, '')
    const second = next(first)
    await bench.work.launch(second)
    await staysAlive(second)
    expect(shimOf(second)).not.toEqual(shimOf(first))
  })

  test('leaves by itself when it is heard and not called', async () => {
    const first = await ended(TWICE)
    bench.work.onNews(() => undefined)
    bench.work.heard(first)
    await bench.until('it has left', () => lives(shimOf(first)) === 'dead')
    expect(processesOf(bench.home.root).filter(({ command }) => command.startsWith('sleep'))).toEqual([])
  })

  test('a call that is not meant for it changes nothing', async () => {
    const order = await bench.run(['/bin/sh', '-c', 'echo ready; exec sleep 1000'])
    await bench.work.launch(order)
    await staysAlive(order)
    process.kill(shimOf(order).pid, 'SIGUSR1')
    process.kill(bench.work.evidence(order).life?.pid as number, 'SIGTERM')
    await bench.until('it has ended', () => bench.work.evidence(order).exit !== null)
    expect(bench.work.evidence(order).exit).toEqual({ kind: 'signal', signal: 'SIGTERM' })
    const second = next(order)
    await bench.work.launch(second)
    await staysAlive(second)
  })
})
