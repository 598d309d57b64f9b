import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { attemptFolder } from '../../src/state/session-folder.ts'
import { createCgroup, readCgroupMembers, removeEmptyCgroups, removeCgroup } from '../../src/os/cgroup.ts'
import { identifyProcess, checkLiveness, type ProcessId } from '../../src/os/process/processes.ts'
import { readShim } from '../../src/state/shim-records.ts'
import { canCreateCgroups, openTmuxFixture, type TmuxFixture } from './tmux-fixture.ts'

const NO_GROUPS = 'control groups may not be made here'

describe.each(['headless', 'tty'] as const)('the sweep of a %s program', mode => {
  let fixture: TmuxFixture
  beforeEach(() => {
    fixture = openTmuxFixture(mode)
  })
  afterEach(() => fixture.close())

  /** Starts a process without a parent, a process session, an environment or a name that would lead back to the program. */
  const HIDE = `env -i /bin/sh -c 'setsid /bin/sh -c "echo \\$\\$ >hidden.draft; mv hidden.draft hidden; exec sleep 1000" </dev/null >/dev/null 2>&1 &'`

  test('ends every process of it, even one that has cut every tie to it', async ({ skip }) => {
    if (!canCreateCgroups()) return skip(NO_GROUPS)
    const spec = await fixture.run(['/bin/sh', '-c', HIDE])
    const folder = attemptFolder(fixture.home, spec.sessionId, spec.attempt)
    const note = path.join(spec.cwd, 'hidden')
    await fixture.work.launch(spec)
    await fixture.until('it has hidden something', () => fs.existsSync(note))
    await fixture.until('it has ended', () => fixture.work.attemptState(spec).exit !== null)
    const hidden = identifyProcess(Number(fs.readFileSync(note, 'utf8'))) as ProcessId
    const group = readShim(folder)?.group ?? ''
    expect(checkLiveness(hidden)).toBe('alive')
    expect([...readCgroupMembers(group)]).toContain(hidden.pid)
    expect(fixture.work.attemptState(spec).isTreeEmpty).toBe(false)
    expect(fixture.alive(spec), 'its marker does not tell').toBe(0)
    await fixture.work.sweep(spec, { force: false })
    expect(checkLiveness(hidden)).toBe('dead')
    expect(fs.existsSync(group)).toBe(false)
  })
})

test('readCgroupMembers and removeCgroup accept a control group that does not exist', () => {
  expect(readCgroupMembers('/nowhere/at-all').size).toBe(0)
  expect(() => removeCgroup('/nowhere/at-all')).not.toThrow()
})

test('removeEmptyCgroups removes empty control groups after a while, and keeps those with a process', async ({
  skip,
}) => {
  const base = createCgroup(`test-${process.pid}`)
  if (base === null) return skip(NO_GROUPS)
  const [empty = '', held = ''] = ['oneshot-aaaaaaaaaa.1', 'oneshot-bbbbbbbbbb.1'].map(name => path.join(base, name))
  for (const group of [empty, held]) fs.mkdirSync(group)
  const child = spawn('sleep', ['1000'], { stdio: 'ignore' })
  fs.writeFileSync(path.join(held, 'cgroup.procs'), String(child.pid))
  removeEmptyCgroups(Date.now(), base)
  expect(
    [empty, held].map(group => fs.existsSync(group)),
    'one was just made',
  ).toEqual([true, true])
  removeEmptyCgroups(Date.now() + 3_600_000, base)
  expect([empty, held].map(group => fs.existsSync(group))).toEqual([false, true])
  child.kill('SIGKILL')
  await once(child, 'exit')
  for (const group of [held, base]) removeCgroup(group)
})
