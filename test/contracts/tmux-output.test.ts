import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { childrenOf, isAlive } from '../../bench/measure/proc.ts'
import type { Mode } from '../../src/core/session.ts'
import type { LaunchOrder } from '../../src/ports/work.ts'
import { attemptFolder, attemptId } from '../../src/world/os/folders.ts'
import { readClaim, readRecorder } from '../../src/world/os/spool.ts'
import { openTmuxBench, type TmuxBench, type Wishes } from './tmux-bench.ts'
import { said } from './work-bench.ts'

let bench: TmuxBench

async function swept(argv: readonly string[], wishes: Wishes = {}): Promise<LaunchOrder> {
  const order = await bench.run(argv, wishes)
  await bench.work.launch(order)
  await bench.until('it has ended', () => bench.work.evidence(order).exit !== null)
  await bench.work.sweep(order, { force: false })
  return order
}

describe('what a headless program writes', () => {
  beforeEach(() => {
    bench = openTmuxBench('headless')
  })
  afterEach(() => bench.close())

  test('is on disk byte for byte, whatever bytes they are', async () => {
    const bytes = crypto.randomBytes(3_000_000)
    const file = path.join(bench.home.root, 'bytes')
    fs.writeFileSync(file, bytes)
    const order = await swept(['/bin/cat', file])
    expect(Buffer.from(bench.work.read(order, 0, 1e9)).equals(bytes)).toBe(true)
  })

  test('to stdout and stderr stays in order when they are one, and apart when they are two', async () => {
    const script = ['/bin/sh', '-c', 'for i in 1 2 3; do echo out $i; echo err $i >&2; done']
    const one = await swept(script, { mergeStderr: true })
    expect(said(bench.work, one)).toBe('out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n')
    const two = await swept(script, { mergeStderr: false })
    expect(said(bench.work, two)).toBe('out 1\nout 2\nout 3\n')
    const { stderr } = attemptFolder(bench.home, two.sessionId, 1)
    expect(fs.readFileSync(stderr, 'utf8')).toBe('err 1\nerr 2\nerr 3\n')
  })

  test('is readable by its user alone, like everything else', async () => {
    const order = await swept(['/bin/echo', 'secret'], { stdin: Buffer.from('secret'), prompt: Buffer.from('secret') })
    const session = path.join(bench.home.sessions, order.sessionId)
    const open = fs
      .readdirSync(session, { recursive: true, withFileTypes: true })
      .filter(entry => (fs.statSync(path.join(entry.parentPath, entry.name)).mode & 0o077) !== 0)
    expect(open.map(entry => entry.name)).toEqual([])
  })
})

describe('what a program writes to its terminal', () => {
  beforeEach(() => {
    bench = openTmuxBench('tty')
  })
  afterEach(() => bench.close())

  test('is recorded from the first byte to the last, however fast it comes and goes', async () => {
    const order = await swept(['/bin/sh', '-c', 'seq 20000'])
    const lines = said(bench.work, order).split('\n')
    expect(lines).toEqual([...Array.from({ length: 20_000 }, (_, i) => String(i + 1)), ''])
  })

  test('is recorded even if it is one word at once', async () => {
    const orders = await Promise.all(Array.from({ length: 5 }, (_, i) => swept(['/usr/bin/printf', `word ${i}`])))
    expect(orders.map(order => said(bench.work, order))).toEqual(orders.map((_, i) => `word ${i}`))
  })

  test('is recorded to the last word when it is killed', async () => {
    const order = await bench.run(['/bin/sh', '-c', 'seq 5000; echo ready; exec sleep 1000'])
    await bench.work.launch(order)
    await bench.until('it has spoken', () => said(bench.work, order).includes('ready'))
    await bench.work.sweep(order, { force: true })
    expect(said(bench.work, order)).toBe(`${Array.from({ length: 5_000 }, (_, i) => i + 1).join('\n')}\nready\n`)
  })

  test('is not lost with its recorder, even if nobody sweeps before its shim looks whether it was heard', async () => {
    const order = await bench.run(['/bin/sh', '-c', 'echo first; until [ -e go ]; do sleep 0.02; done; echo last'])
    const folder = attemptFolder(bench.home, order.sessionId, order.attempt)
    await bench.work.launch(order)
    await bench.until('it has spoken', () => said(bench.work, order).includes('first'))
    process.kill(readRecorder(folder)?.pid as number, 'SIGKILL')
    fs.writeFileSync(path.join(order.cwd, 'go'), '')
    await bench.until('it has ended', () => bench.work.evidence(order).exit !== null)
    bench.work.heard(order)
    fs.rmSync(path.join(bench.home.mailbox, `${attemptId(order.sessionId, order.attempt)}.exit`), { force: true })
    const shim = readClaim(folder)?.pid as number
    await bench.until('its shim has looked for its letter', () => !isAlive(shim) || waitsWith(shim) === 'sleep 2')
    await bench.work.sweep(order, { force: false })
    expect(said(bench.work, order).split('\n').filter(Boolean)).toEqual(['first', 'last'])
  })
})

/** What the shim waits with: a sleep of one second at first, then longer ones. */
function waitsWith(shim: number): string {
  const [child] = childrenOf(shim)
  const file = `/proc/${child}/cmdline`
  return fs.existsSync(file) ? fs.readFileSync(file, 'latin1').replaceAll('\0', ' ').trim() : ''
}

const HOMES = [
  'two words',
  "it's",
  '"q"',
  '%H %d',
  '#S',
  '#{pid}',
  '#(touch x)',
  '$(touch x)',
  '`x`',
  'grüße修',
  'a;b',
  '\\n',
  '*',
]

describe.each<Mode>(['headless', 'tty'])('a home of any name serves %s programs', mode => {
  afterEach(() => bench.close())

  test.each(HOMES)('%j', async name => {
    bench = openTmuxBench(mode, name)
    const order = await swept(['/bin/echo', 'hello'])
    expect(bench.work.evidence(order)).toMatchObject({ exit: { kind: 'code', code: 0 }, shim: 'dead' })
    expect(said(bench.work, order)).toBe('hello\n')
  })
})
