import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Mode } from '../../src/core/session/session-state.ts'
import { invariant } from '../../src/lib/errors.ts'
import type { LaunchSpec } from '../../src/ports/runtime.ts'
import { processesOf, tmuxServerOn } from '../../testkit/system/process-list.ts'
import { attemptFolder, terminalSocket } from '../../src/state/session-folder.ts'
import { readClaim, readRecorder } from '../../src/state/shim-records.ts'
import { openTmuxFixture, type TmuxFixture } from './tmux-fixture.ts'
import { outputOf } from './runtime-fixture.ts'

let fixture: TmuxFixture

/** Says a word for each file it finds, and ends with 5 when told. */
const LISTENER = `echo ready; n=0
while [ ! -e end ]; do n=$((n + 1)); while [ ! -e "word$n" ] && [ ! -e end ]; do sleep 0.02; done; [ -e "word$n" ] && cat "word$n"; done
exit 5`

async function launched(script: string): Promise<LaunchSpec> {
  const spec = await fixture.run(['/bin/sh', '-c', script])
  await fixture.work.launch(spec)
  await fixture.until('it has spoken', () => outputOf(fixture.work, spec).includes('ready'))
  return spec
}

function tell(spec: LaunchSpec, file: string, text = ''): void {
  fs.writeFileSync(path.join(spec.cwd, `.${file}`), text)
  fs.renameSync(path.join(spec.cwd, `.${file}`), path.join(spec.cwd, file))
}

function shimOf(spec: LaunchSpec): number | undefined {
  return readClaim(attemptFolder(fixture.home, spec.sessionId, spec.attempt))?.pid
}

/** Kills exactly that process. Never a pid that is not known: -1 would be everybody. */
function killed(pid: number | undefined): number {
  invariant(pid !== undefined && pid > 1, 'the one to be killed is not there')
  process.kill(pid, 'SIGKILL')
  return pid
}

describe.each<Mode>(['headless', 'tty'])('a %s program', mode => {
  beforeEach(() => {
    fixture = openTmuxFixture(mode)
  })
  afterEach(() => fixture.close())

  test('survives a kill of the shared tmux server, and repair opens its pane again', async () => {
    const spec = await launched(LISTENER)
    const { life } = fixture.work.attemptState(spec)
    killed(tmuxServerOn(fixture.home.tmuxSocket))
    await fixture.until('the loss is noticed', () => fixture.panes.hasLostServer())
    expect(await fixture.panes.listSessions()).toEqual(new Set())
    tell(spec, 'word1', 'still here\n')
    await fixture.until('it speaks', () => outputOf(fixture.work, spec) === 'ready\nstill here\n')
    await fixture.work.repair([spec])
    expect(await fixture.panes.listSessions()).toEqual(new Set([spec.name]))
    await fixture.work.repair([spec])
    expect(fixture.work.attemptState(spec)).toMatchObject({ life, process: 'alive', shim: 'alive' })
    tell(spec, 'end')
    await fixture.until('it has ended', () => fixture.work.attemptState(spec).exit !== null)
    expect(fixture.work.attemptState(spec).exit).toEqual({ kind: 'code', code: 5 })
  })

  test('leaves no process after a sweep, which finds hidden children by their marker', async () => {
    const spec = await launched(
      `setsid sleep 1000 & (setsid sh -c 'sleep 1001 & sleep 1002' &) ; (nohup sleep 1003 >/dev/null 2>&1 &) ; echo ready; exec sleep 1004`,
    )
    await fixture.until('all five are there', () => fixture.alive(spec) >= 6)
    killed(fixture.work.attemptState(spec).life?.pid)
    await fixture.until('the program is gone', () => fixture.work.attemptState(spec).process === 'dead')
    expect(fixture.alive(spec)).toBeGreaterThanOrEqual(4)
    await fixture.work.sweep(spec, { force: false })
    expect(fixture.alive(spec)).toBe(0)
    expect(fixture.work.attemptState(spec).exit).toEqual({ kind: 'signal', signal: 'SIGKILL' })
  })

  test('ends in a sweep with its children, even those with an empty environment', async () => {
    const nameless = `1000.${crypto.randomInt(1e9)}`
    const spec = await launched(`env -i setsid sleep ${nameless} & env -i sleep ${nameless} & echo ready; wait`)
    await fixture.until('both are there', () => processesOf(`sleep\0${nameless}`).length === 2)
    await fixture.work.sweep(spec, { force: false })
    expect(processesOf(`sleep\0${nameless}`)).toEqual([])
  })

  test('counts as dead if it was started in an earlier boot', async () => {
    const spec = await launched('echo ready; exec sleep 1000')
    const { started } = attemptFolder(fixture.home, spec.sessionId, 1)
    const [pid, birth] = fs.readFileSync(started, 'utf8').split(' ')
    const record = fs.readFileSync(started)
    fs.writeFileSync(started, `${pid} ${birth} an-earlier-boot\nend\n`)
    expect(fixture.work.attemptState(spec)).toMatchObject({ process: 'dead', shim: 'dead', exit: null })
    fs.writeFileSync(started, record)
    expect(fixture.work.attemptState(spec)).toMatchObject({ process: 'alive', shim: 'alive' })
  })
})

describe('a headless program whose shim was killed', () => {
  beforeEach(() => {
    fixture = openTmuxFixture('headless')
  })
  afterEach(() => fixture.close())

  test('counts as alive until it ends, and then as dead without an exit record', async () => {
    const spec = await launched(LISTENER)
    killed(shimOf(spec))
    await fixture.until('its shim is gone', () => fixture.work.attemptState(spec).shim === 'dead')
    expect(fixture.work.attemptState(spec)).toMatchObject({ process: 'alive', exit: null })
    tell(spec, 'word1', 'still here\n')
    await fixture.until('it speaks', () => outputOf(fixture.work, spec) === 'ready\nstill here\n')
    tell(spec, 'end')
    await fixture.until('it is gone', () => fixture.work.attemptState(spec).process === 'dead')
    expect(fixture.work.attemptState(spec)).toMatchObject({ shim: 'dead', exit: null })
  })
})

describe('a program on a terminal', () => {
  beforeEach(() => {
    fixture = openTmuxFixture('tty')
  })
  afterEach(() => fixture.close())

  test('whose shim was killed loses its terminal, and counts as dead after its end', async () => {
    const spec = await launched('echo ready; exec sleep 1000')
    killed(shimOf(spec))
    await fixture.until('both are gone', () => fixture.work.attemptState(spec).process === 'dead')
    expect(fixture.work.attemptState(spec)).toMatchObject({ shim: 'dead', exit: null })
  })

  test('whose own tmux server was killed leaves no process after a sweep', async () => {
    const spec = await launched(`trap '' HUP; echo ready; while :; do sleep 0.1; done`)
    killed(tmuxServerOn(terminalSocket(fixture.home, spec.sessionId)))
    await fixture.work.sweep(spec, { force: true })
    expect(fixture.alive(spec)).toBe(0)
    expect(fixture.work.attemptState(spec)).toMatchObject({ process: 'dead', shim: 'dead' })
  })

  test('gets a new recorder after a kill of the old one, and repair fills the gap in the output', async () => {
    const spec = await launched(LISTENER)
    tell(spec, 'word1', 'one\ntwo\nthree\n')
    await fixture.until('it was recorded', () => outputOf(fixture.work, spec).endsWith('three\n'))
    const folder = attemptFolder(fixture.home, spec.sessionId, 1)
    killed(readRecorder(folder)?.pid)
    await fixture.until('the recorder is gone', () =>
      processesOf(folder.root).every(seen => !seen.command.includes('cat')),
    )
    tell(spec, 'word2', 'nobody heard\nthis\n')
    await fixture.until('the terminal has it', () => fs.existsSync(path.join(spec.cwd, 'word2')))
    await fixture.until('the terminal shows it', async () =>
      (await fixture.panes.captureHistory(spec)).includes('this'),
    )
    await fixture.work.repair([spec])
    await fixture.until('a recorder is back', () => {
      const recorder = readRecorder(folder)
      return recorder !== null && fs.existsSync(`/proc/${recorder.pid}`)
    })
    await fixture.work.repair([spec])
    tell(spec, 'word3', 'heard again\n')
    await fixture.until('it was recorded', () => outputOf(fixture.work, spec).includes('heard again'))
    tell(spec, 'end')
    await fixture.until('it has ended', () => fixture.work.attemptState(spec).exit !== null)
    await fixture.work.sweep(spec, { force: false })
    const lines = outputOf(fixture.work, spec)
      .split('\n')
      .filter(line => line !== '')
    expect(lines).toEqual(['ready', 'one', 'two', 'three', 'nobody heard', 'this', 'heard again'])
  })

  test('loses no line if it ends before anybody notices the kill of its recorder', async () => {
    const spec = await launched(LISTENER)
    const folder = attemptFolder(fixture.home, spec.sessionId, 1)
    const recorder = killed(readRecorder(folder)?.pid)
    await fixture.until('the recorder is gone', () => !fs.existsSync(`/proc/${recorder}`))
    tell(spec, 'word1', 'nobody heard\nthis\n')
    await fixture.until('the terminal shows it', async () =>
      (await fixture.panes.captureHistory(spec)).includes('this'),
    )
    tell(spec, 'end')
    await fixture.until('it has ended', () => fixture.work.attemptState(spec).exit !== null)
    await fixture.work.sweep(spec, { force: false })
    await fixture.work.sweep(spec, { force: false })
    const lines = outputOf(fixture.work, spec)
      .split('\n')
      .filter(line => line !== '')
    expect(lines).toEqual(['ready', 'nobody heard', 'this'])
  })

  test('loses and repeats no line while somebody kills its recorder again and again', async () => {
    const spec = await launched('n=0; echo ready; until [ -e end ]; do n=$((n+1)); echo "line $n"; sleep 0.002; done')
    const folder = attemptFolder(fixture.home, spec.sessionId, 1)
    for (let round = 1; round <= 8; round++) {
      const size = fs.statSync(folder.stdout).size
      await fixture.until('it is recorded', () => fs.statSync(folder.stdout).size > size)
      killed(readRecorder(folder)?.pid)
      await fixture.until('the gap is seen', () => fixture.work.needsRepair())
      // A supervisor that filled the gap may have died in the middle, and others may fill it at the same time.
      if (round % 2 === 0) fs.writeFileSync(folder.gap, '')
      await Promise.all([fixture.work.repair([spec]), fixture.work.repair([spec])])
    }
    tell(spec, 'end')
    await fixture.until('it has ended', () => fixture.work.attemptState(spec).exit !== null)
    await fixture.work.sweep(spec, { force: false })
    const lines = outputOf(fixture.work, spec).trim().split('\n')
    expect(lines).toEqual(['ready', ...Array.from({ length: lines.length - 1 }, (_, n) => `line ${n + 1}`)])
    expect(lines.length).toBeGreaterThan(50)
  })

  test('gets a new recorder after a kill of an idle one', async () => {
    const spec = await launched(LISTENER)
    const folder = attemptFolder(fixture.home, spec.sessionId, 1)
    const first = killed(readRecorder(folder)?.pid)
    await fixture.until('the recorder is gone', () => !fs.existsSync(`/proc/${first}`))
    await fixture.work.repair([spec])
    await fixture.until('another one is there', () => (readRecorder(folder)?.pid ?? first) !== first)
    tell(spec, 'word1', 'heard\n')
    await fixture.until('it was recorded', () => outputOf(fixture.work, spec).includes('heard'))
    const lines = outputOf(fixture.work, spec)
      .split('\n')
      .filter(line => line !== '')
    expect(lines).toEqual(['ready', 'heard'])
  })
})
