import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Mode } from '../../src/core/session.ts'
import { invariant } from '../../src/lib/trouble.ts'
import type { LaunchOrder } from '../../src/ports/work.ts'
import { processesOf, tmuxServerOn } from '../../src/testkit/real/process-list.ts'
import { attemptFolder, terminalSocket } from '../../src/world/os/folders.ts'
import { readClaim, readRecorder } from '../../src/world/os/spool.ts'
import { openTmuxBench, type TmuxBench } from './tmux-bench.ts'
import { said } from './work-bench.ts'

let bench: TmuxBench

/** Says a word for each file it finds, and ends with 5 when told. */
const LISTENER = `echo ready; n=0
while [ ! -e end ]; do n=$((n + 1)); while [ ! -e "word$n" ] && [ ! -e end ]; do sleep 0.02; done; [ -e "word$n" ] && cat "word$n"; done
exit 5`

async function launched(script: string): Promise<LaunchOrder> {
  const order = await bench.run(['/bin/sh', '-c', script])
  await bench.work.launch(order)
  await bench.until('it has spoken', () => said(bench.work, order).includes('ready'))
  return order
}

function tell(order: LaunchOrder, file: string, text = ''): void {
  fs.writeFileSync(path.join(order.cwd, `.${file}`), text)
  fs.renameSync(path.join(order.cwd, `.${file}`), path.join(order.cwd, file))
}

function shimOf(order: LaunchOrder): number | undefined {
  return readClaim(attemptFolder(bench.home, order.sessionId, order.attempt))?.pid
}

/** Kills exactly that process. Never a pid that is not known: -1 would be everybody. */
function killed(pid: number | undefined): number {
  invariant(pid !== undefined && pid > 1, 'the one to be killed is not there')
  process.kill(pid, 'SIGKILL')
  return pid
}

describe.each<Mode>(['headless', 'tty'])('a %s program', mode => {
  beforeEach(() => {
    bench = openTmuxBench(mode)
  })
  afterEach(() => bench.close())

  test('lives on when the tmux server everybody looks at is killed, and its pane can be opened again', async () => {
    const order = await launched(LISTENER)
    const { life } = bench.work.evidence(order)
    killed(tmuxServerOn(bench.home.tmuxSocket))
    await bench.until('the loss is noticed', () => bench.panes.hasLostServer())
    expect(await bench.panes.sessions()).toEqual(new Set())
    tell(order, 'word1', 'still here\n')
    await bench.until('it speaks', () => said(bench.work, order) === 'ready\nstill here\n')
    await bench.work.mend([order])
    expect(await bench.panes.sessions()).toEqual(new Set([order.name]))
    await bench.work.mend([order])
    expect(bench.work.evidence(order)).toMatchObject({ life, process: 'alive', shim: 'alive' })
    tell(order, 'end')
    await bench.until('it has ended', () => bench.work.evidence(order).exit !== null)
    expect(bench.work.evidence(order).exit).toEqual({ kind: 'code', code: 5 })
  })

  test('that carries no name of its own is found by its marker, wherever its children hide', async () => {
    const order = await launched(
      `setsid sleep 1000 & (setsid sh -c 'sleep 1001 & sleep 1002' &) ; (nohup sleep 1003 >/dev/null 2>&1 &) ; echo ready; exec sleep 1004`,
    )
    await bench.until('all five are there', () => bench.alive(order) >= 6)
    killed(bench.work.evidence(order).life?.pid)
    await bench.until('the program is gone', () => bench.work.evidence(order).process === 'dead')
    expect(bench.alive(order)).toBeGreaterThanOrEqual(4)
    await bench.work.sweep(order, { force: false })
    expect(bench.alive(order)).toBe(0)
    expect(bench.work.evidence(order).exit).toEqual({ kind: 'signal', signal: 'SIGKILL' })
  })

  test('that cleaned its children’s environment is ended with them while it lives', async () => {
    const nameless = `1000.${crypto.randomInt(1e9)}`
    const order = await launched(`env -i setsid sleep ${nameless} & env -i sleep ${nameless} & echo ready; wait`)
    await bench.until('both are there', () => processesOf(`sleep\0${nameless}`).length === 2)
    await bench.work.sweep(order, { force: false })
    expect(processesOf(`sleep\0${nameless}`)).toEqual([])
  })

  test('that was started in an earlier boot is dead', async () => {
    const order = await launched('echo ready; exec sleep 1000')
    const { started } = attemptFolder(bench.home, order.sessionId, 1)
    const [pid, birth] = fs.readFileSync(started, 'utf8').split(' ')
    const record = fs.readFileSync(started)
    fs.writeFileSync(started, `${pid} ${birth} an-earlier-boot\nend\n`)
    expect(bench.work.evidence(order)).toMatchObject({ process: 'dead', shim: 'dead', exit: null })
    fs.writeFileSync(started, record)
    expect(bench.work.evidence(order)).toMatchObject({ process: 'alive', shim: 'alive' })
  })
})

describe('a headless program whose shim was killed', () => {
  beforeEach(() => {
    bench = openTmuxBench('headless')
  })
  afterEach(() => bench.close())

  test('is alive as long as it lives, and then dead without a record', async () => {
    const order = await launched(LISTENER)
    killed(shimOf(order))
    await bench.until('its shim is gone', () => bench.work.evidence(order).shim === 'dead')
    expect(bench.work.evidence(order)).toMatchObject({ process: 'alive', exit: null })
    tell(order, 'word1', 'still here\n')
    await bench.until('it speaks', () => said(bench.work, order) === 'ready\nstill here\n')
    tell(order, 'end')
    await bench.until('it is gone', () => bench.work.evidence(order).process === 'dead')
    expect(bench.work.evidence(order)).toMatchObject({ shim: 'dead', exit: null })
  })
})

describe('a program on a terminal', () => {
  beforeEach(() => {
    bench = openTmuxBench('tty')
  })
  afterEach(() => bench.close())

  test('whose shim was killed loses its terminal, and is known to be dead when it is', async () => {
    const order = await launched('echo ready; exec sleep 1000')
    killed(shimOf(order))
    await bench.until('both are gone', () => bench.work.evidence(order).process === 'dead')
    expect(bench.work.evidence(order)).toMatchObject({ shim: 'dead', exit: null })
  })

  test('whose own tmux server was killed is swept and leaves nothing', async () => {
    const order = await launched(`trap '' HUP; echo ready; while :; do sleep 0.1; done`)
    killed(tmuxServerOn(terminalSocket(bench.home, order.sessionId)))
    await bench.work.sweep(order, { force: true })
    expect(bench.alive(order)).toBe(0)
    expect(bench.work.evidence(order)).toMatchObject({ process: 'dead', shim: 'dead' })
  })

  test('has its recorder back when it was killed, and the gap is filled', async () => {
    const order = await launched(LISTENER)
    tell(order, 'word1', 'one\ntwo\nthree\n')
    await bench.until('it was recorded', () => said(bench.work, order).endsWith('three\n'))
    const folder = attemptFolder(bench.home, order.sessionId, 1)
    killed(readRecorder(folder)?.pid)
    await bench.until('the recorder is gone', () =>
      processesOf(folder.root).every(seen => !seen.command.includes('cat')),
    )
    tell(order, 'word2', 'nobody heard\nthis\n')
    await bench.until('the terminal has it', () => fs.existsSync(path.join(order.cwd, 'word2')))
    await bench.until('the terminal shows it', async () => (await bench.panes.history(order)).includes('this'))
    await bench.work.mend([order])
    await bench.until('a recorder is back', () => {
      const recorder = readRecorder(folder)
      return recorder !== null && fs.existsSync(`/proc/${recorder.pid}`)
    })
    await bench.work.mend([order])
    tell(order, 'word3', 'heard again\n')
    await bench.until('it was recorded', () => said(bench.work, order).includes('heard again'))
    tell(order, 'end')
    await bench.until('it has ended', () => bench.work.evidence(order).exit !== null)
    await bench.work.sweep(order, { force: false })
    const lines = said(bench.work, order)
      .split('\n')
      .filter(line => line !== '')
    expect(lines).toEqual(['ready', 'one', 'two', 'three', 'nobody heard', 'this', 'heard again'])
  })

  test('that ends before anybody has noticed that its recorder was killed loses no line', async () => {
    const order = await launched(LISTENER)
    const folder = attemptFolder(bench.home, order.sessionId, 1)
    const recorder = killed(readRecorder(folder)?.pid)
    await bench.until('the recorder is gone', () => !fs.existsSync(`/proc/${recorder}`))
    tell(order, 'word1', 'nobody heard\nthis\n')
    await bench.until('the terminal shows it', async () => (await bench.panes.history(order)).includes('this'))
    tell(order, 'end')
    await bench.until('it has ended', () => bench.work.evidence(order).exit !== null)
    await bench.work.sweep(order, { force: false })
    await bench.work.sweep(order, { force: false })
    const lines = said(bench.work, order)
      .split('\n')
      .filter(line => line !== '')
    expect(lines).toEqual(['ready', 'nobody heard', 'this'])
  })

  test('that goes on talking while its recorder is killed again and again loses no line, and has none twice', async () => {
    const order = await launched('n=0; echo ready; until [ -e end ]; do n=$((n+1)); echo "line $n"; sleep 0.002; done')
    const folder = attemptFolder(bench.home, order.sessionId, 1)
    for (let round = 1; round <= 8; round++) {
      const size = fs.statSync(folder.stdout).size
      await bench.until('it is recorded', () => fs.statSync(folder.stdout).size > size)
      killed(readRecorder(folder)?.pid)
      await bench.until('the gap is seen', () => bench.work.isToMend())
      // Whoever filled it may have died in the middle, and others may fill it at the same time.
      if (round % 2 === 0) fs.writeFileSync(folder.gap, '')
      await Promise.all([bench.work.mend([order]), bench.work.mend([order])])
    }
    tell(order, 'end')
    await bench.until('it has ended', () => bench.work.evidence(order).exit !== null)
    await bench.work.sweep(order, { force: false })
    const lines = said(bench.work, order).trim().split('\n')
    expect(lines).toEqual(['ready', ...Array.from({ length: lines.length - 1 }, (_, n) => `line ${n + 1}`)])
    expect(lines.length).toBeGreaterThan(50)
  })

  test('whose idle recorder was killed has it back, too', async () => {
    const order = await launched(LISTENER)
    const folder = attemptFolder(bench.home, order.sessionId, 1)
    const first = killed(readRecorder(folder)?.pid)
    await bench.until('the recorder is gone', () => !fs.existsSync(`/proc/${first}`))
    await bench.work.mend([order])
    await bench.until('another one is there', () => (readRecorder(folder)?.pid ?? first) !== first)
    tell(order, 'word1', 'heard\n')
    await bench.until('it was recorded', () => said(bench.work, order).includes('heard'))
    const lines = said(bench.work, order)
      .split('\n')
      .filter(line => line !== '')
    expect(lines).toEqual(['ready', 'heard'])
  })
})
