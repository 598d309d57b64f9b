import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { invariant } from '../../src/lib/errors.ts'
import type { LaunchSpec } from '../../src/ports/runtime.ts'
import { processesOf, tmuxServerOn } from '../../testkit/system/process-list.ts'
import { attemptFolder } from '../../src/state/session-folder.ts'
import { checkLiveness, type ProcessId } from '../../src/os/process/processes.ts'
import { readClaim } from '../../src/state/shim-records.ts'
import { which } from '../../src/os/which.ts'
import { installPrograms } from '../../src/world/runtime/install-programs.ts'
import { Panes } from '../../src/world/runtime/panes.ts'
import { findTmux } from '../../src/world/runtime/tmux-client.ts'
import { TmuxRuntime } from '../../src/world/runtime/tmux-runtime.ts'
import { openTmuxFixture, type TmuxFixture } from './tmux-fixture.ts'
import { nextAttempt, outputOf } from './runtime-fixture.ts'

let fixture: TmuxFixture
beforeEach(() => {
  fixture = openTmuxFixture('headless')
})
afterEach(() => fixture.close())

function shimOf(spec: LaunchSpec): ProcessId {
  const claim = readClaim(attemptFolder(fixture.home, spec.sessionId, spec.attempt))
  invariant(claim !== null, 'nobody has taken the attempt')
  return claim
}

function tmux(...args: string[]): string {
  return spawnSync('tmux', ['-S', fixture.home.tmuxSocket, ...args], { encoding: 'utf8' }).stdout
}

function panes(spec: LaunchSpec): string[] {
  return tmux('list-panes', '-s', '-t', `=${spec.name}`, '-F', '#{pane_id} #{pane_pid}').trim().split('\n')
}

/** A work plane whose shims are run by this shell. */
function workWith(shell: string): TmuxRuntime {
  const folder = path.join(fixture.home.root, 'shell')
  fs.mkdirSync(folder)
  fs.symlinkSync(shell, path.join(folder, 'sh'))
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` }
  return new TmuxRuntime(fixture.home, new Panes(fixture.home, () => findTmux(env), installPrograms(fixture.home)))
}

/** An attempt that has ended; its shim waits. */
async function ended(script: string): Promise<LaunchSpec> {
  const spec = await fixture.run(['/bin/sh', '-c', script])
  await fixture.work.launch(spec)
  await fixture.until('it has ended', () => fixture.work.attemptState(spec).exit !== null)
  return spec
}

async function staysAlive(spec: LaunchSpec): Promise<void> {
  await fixture.until('it has spoken', () => outputOf(fixture.work, spec).includes('ready'))
  expect(fixture.work.attemptState(spec)).toMatchObject({ process: 'alive', shim: 'alive', refusal: null })
}

/** A program that dies at its first start and stays alive at its second. */
const TWICE = 'if [ -e once ]; then echo ready; exec sleep 1000; fi; : >once; kill -KILL $$'

describe('the shim of an attempt that has ended', () => {
  test('starts the next attempt in the same pane, and no other shim starts', async () => {
    const first = await ended(TWICE)
    const before = panes(first)
    const second = nextAttempt(first)
    await fixture.work.launch(second)
    await staysAlive(second)
    expect(shimOf(second)).toEqual(shimOf(first))
    expect(panes(second)).toEqual(before)
    const shims = processesOf(`${fixture.home.root}/bin/shim`).filter(({ command }) => command.startsWith('sh '))
    expect(shims.map(({ pid }) => pid)).toEqual([shimOf(first).pid])
    await fixture.work.sweep(first, { force: true })
    await fixture.work.launch(second)
    expect(fixture.work.attemptState(second)).toMatchObject({ process: 'alive', shim: 'alive' })
    await fixture.work.sweep(second, { force: true })
    expect(checkLiveness(shimOf(second))).toBe('dead')
    expect(fixture.work.attemptState(second).exit).toEqual({ kind: 'signal', signal: 'SIGKILL' })
  })

  test.for(['dash', 'bash'])('records the exit of each of its attempts where sh is %s', async (name, { skip }) => {
    const shell = which(name, process.env, '/')
    if (shell === undefined) return skip(`${name} is not installed`)
    const work = workWith(shell)
    const script =
      'n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) >n; [ $n = 1 ] && kill -SEGV $$; exit $((n + 135))'
    let spec = await fixture.run(['/bin/sh', '-c', script])
    const exits: unknown[] = []
    for (let times = 0; times < 4; times++) {
      await work.launch(spec)
      await fixture.until('it has ended', () => work.attemptState(spec).exit !== null)
      exits.push(work.attemptState(spec).exit)
      if (times < 3) spec = nextAttempt(spec)
    }
    const signal = { kind: 'signal', signal: 'SIGSEGV' }
    const codes = [135, 137, 138].map(code => ({ kind: 'code', code }))
    expect(exits).toEqual([codes[0], signal, codes[1], codes[2]])
    expect(shimOf(spec)).toEqual(shimOf({ ...spec, attempt: 1 }))
    expect(fs.readlinkSync(`/proc/${shimOf(spec).pid}/exe`)).toBe(fs.realpathSync(shell))
  })

  test('keeps an attached user attached', async () => {
    const first = await ended(TWICE)
    const viewer = path.join(fixture.home.root, 'viewer.sock')
    const view = (...args: string[]): string =>
      spawnSync('tmux', ['-S', viewer, '-f', '/dev/null', ...args], { encoding: 'utf8' }).stdout
    await fixture.work.sweep(first, { force: true })
    const second = nextAttempt(first)
    fs.rmSync(path.join(second.cwd, 'once'))
    await fixture.work.launch(second)
    const attach = ['env', '-u', 'TMUX', 'tmux', '-S', fixture.home.tmuxSocket, 'attach', '-t', `=${first.name}`]
    await fixture.until('it has ended', () => fixture.work.attemptState(second).exit !== null)
    view('new-session', '-d', '-x', '100', '-y', '30', ...attach)
    try {
      const third = nextAttempt(second)
      await fixture.work.launch(third)
      await staysAlive(third)
      expect(tmux('list-clients', '-F', '#{session_name}').trim()).toBe(third.name)
    } finally {
      view('kill-server')
    }
  })

  test.each<[string, (spec: LaunchSpec) => number | undefined]>([
    ['was killed', spec => shimOf(spec).pid],
    ['lost its terminal with the tmux server', () => tmuxServerOn(fixture.home.tmuxSocket)],
  ])('and that %s gets a successor in a new pane', async (_, victim) => {
    const first = await ended(TWICE)
    const pid = victim(first)
    invariant(pid !== undefined, 'the process to be killed is not there')
    process.kill(pid, 'SIGKILL')
    await fixture.until('it is gone', () => checkLiveness(shimOf(first)) === 'dead')
    const second = nextAttempt(first)
    await fixture.work.launch(second)
    await staysAlive(second)
    expect(shimOf(second)).not.toEqual(shimOf(first))
    expect(checkLiveness(shimOf(first))).toBe('dead')
    expect(fixture.alive(second)).toBe(1)
  })

  test('and that is of another version is not used for the next attempt', async () => {
    const first = await ended(TWICE)
    const programs = { shim: path.join(fixture.home.programs, 'shim-of-another-version'), recorder: '' }
    fs.copyFileSync(path.join(fixture.home.programs, fixture.panes.shimProgram), programs.shim)
    const updated = new TmuxRuntime(fixture.home, new Panes(fixture.home, () => findTmux(process.env), programs))
    const second = nextAttempt(first)
    await updated.launch(second)
    await staysAlive(second)
    expect(shimOf(second)).not.toEqual(shimOf(first))
    expect(checkLiveness(shimOf(first))).toBe('dead')
  })

  test('starts one process if several supervisors launch the next attempt at once', async () => {
    const first = await ended(TWICE)
    const second = nextAttempt(first)
    await Promise.all([fixture.work.launch(second), fixture.another().launch(second), fixture.another().launch(second)])
    await staysAlive(second)
    expect(fixture.alive(second)).toBe(1)
    expect(outputOf(fixture.work, second)).toBe('ready\n')
  })

  test('does not continue once somebody sweeps its attempt', async () => {
    const first = await ended(TWICE)
    fs.writeFileSync(attemptFolder(fixture.home, first.sessionId, first.attempt).swept, '')
    const second = nextAttempt(first)
    await fixture.work.launch(second)
    await staysAlive(second)
    expect(shimOf(second)).not.toEqual(shimOf(first))
  })

  test('ends by itself if a supervisor acknowledges the exit and starts no next attempt', async () => {
    const first = await ended(TWICE)
    fixture.work.onChange(() => undefined)
    fixture.work.acknowledge(first)
    await fixture.until('it has left', () => checkLiveness(shimOf(first)) === 'dead')
    expect(processesOf(fixture.home.root).filter(({ command }) => command.startsWith('sleep'))).toEqual([])
  })

  test('ignores a signal for the next attempt that came before the end', async () => {
    const spec = await fixture.run(['/bin/sh', '-c', 'echo ready; exec sleep 1000'])
    await fixture.work.launch(spec)
    await staysAlive(spec)
    process.kill(shimOf(spec).pid, 'SIGUSR1')
    process.kill(fixture.work.attemptState(spec).life?.pid as number, 'SIGTERM')
    await fixture.until('it has ended', () => fixture.work.attemptState(spec).exit !== null)
    expect(fixture.work.attemptState(spec).exit).toEqual({ kind: 'signal', signal: 'SIGTERM' })
    const second = nextAttempt(spec)
    await fixture.work.launch(second)
    await staysAlive(second)
  })
})
