import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { attemptFolder } from '../../src/world/os/folders.ts'
import { makeGroup, membersOf, removeEmptyGroups, removeGroup } from '../../src/world/os/control-group.ts'
import { identify, lives, type ProcessId } from '../../src/world/os/processes.ts'
import { readShim } from '../../src/world/os/spool.ts'
import { mayMakeGroups, openTmuxBench, type TmuxBench } from './tmux-bench.ts'

const NO_GROUPS = 'control groups may not be made here'

describe.each(['headless', 'tty'] as const)('a %s program', mode => {
  let bench: TmuxBench
  beforeEach(() => {
    bench = openTmuxBench(mode)
  })
  afterEach(() => bench.close())

  /** Without a parent, a process session, an environment or a name that would lead back to it. */
  const HIDE = `env -i /bin/sh -c 'setsid /bin/sh -c "echo \\$\\$ >hidden.draft; mv hidden.draft hidden; exec sleep 1000" </dev/null >/dev/null 2>&1 &'`

  test('leaves nothing behind, not even what has cut every tie to it', async ({ skip }) => {
    if (!mayMakeGroups()) return skip(NO_GROUPS)
    const order = await bench.run(['/bin/sh', '-c', HIDE])
    const folder = attemptFolder(bench.home, order.sessionId, order.attempt)
    const note = path.join(order.cwd, 'hidden')
    await bench.work.launch(order)
    await bench.until('it has hidden something', () => fs.existsSync(note))
    await bench.until('it has ended', () => bench.work.evidence(order).exit !== null)
    const hidden = identify(Number(fs.readFileSync(note, 'utf8'))) as ProcessId
    const group = readShim(folder)?.group ?? ''
    expect(lives(hidden)).toBe('alive')
    expect([...membersOf(group)]).toContain(hidden.pid)
    expect(bench.work.evidence(order).isAlone).toBe(false)
    expect(bench.alive(order), 'its marker does not tell').toBe(0)
    await bench.work.sweep(order, { force: false })
    expect(lives(hidden)).toBe('dead')
    expect(fs.existsSync(group)).toBe(false)
  })
})

test('a group that is not there has no members, and is given back once more without harm', () => {
  expect(membersOf('/nowhere/at-all').size).toBe(0)
  expect(() => removeGroup('/nowhere/at-all')).not.toThrow()
})

test('empty groups that nobody has given back go after a while, those that hold something do not', async ({ skip }) => {
  const base = makeGroup(`test-${process.pid}`)
  if (base === null) return skip(NO_GROUPS)
  const [empty = '', held = ''] = ['oneshot-aaaaaaaaaa.1', 'oneshot-bbbbbbbbbb.1'].map(name => path.join(base, name))
  for (const group of [empty, held]) fs.mkdirSync(group)
  const child = spawn('sleep', ['1000'], { stdio: 'ignore' })
  fs.writeFileSync(path.join(held, 'cgroup.procs'), String(child.pid))
  removeEmptyGroups(Date.now(), base)
  expect(
    [empty, held].map(group => fs.existsSync(group)),
    'one was just made',
  ).toEqual([true, true])
  removeEmptyGroups(Date.now() + 3_600_000, base)
  expect([empty, held].map(group => fs.existsSync(group))).toEqual([false, true])
  child.kill('SIGKILL')
  await once(child, 'exit')
  for (const group of [held, base]) removeGroup(group)
})
