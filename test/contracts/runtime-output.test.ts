import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { childrenOf, isAlive } from '../../bench/measure/proc.ts'
import { randomBytes, SEED, seededRandom } from '../../testkit/system/seeded-random.ts'
import type { Mode } from '../../src/core/session/session-state.ts'
import type { LaunchSpec } from '../../src/ports/runtime.ts'
import { attemptFolder, attemptId } from '../../src/state/session-folder.ts'
import { readClaim, readRecorder } from '../../src/state/shim-records.ts'
import { openTmuxFixture, type TmuxFixture, type LaunchOverrides } from './tmux-fixture.ts'
import { outputOf } from './runtime-fixture.ts'

let fixture: TmuxFixture

async function swept(argv: readonly string[], wishes: LaunchOverrides = {}): Promise<LaunchSpec> {
  const spec = await fixture.run(argv, wishes)
  await fixture.work.launch(spec)
  await fixture.until('it has ended', () => fixture.work.attemptState(spec).exit !== null)
  await fixture.work.sweep(spec, { force: false })
  return spec
}

describe('the output of a headless program', () => {
  beforeEach(() => {
    fixture = openTmuxFixture('headless')
  })
  afterEach(() => fixture.close())

  test('reaches the disk byte for byte', async () => {
    const bytes = randomBytes(seededRandom(SEED, 'output'), 3_000_000)
    const file = path.join(fixture.home.root, 'bytes')
    fs.writeFileSync(file, bytes)
    const spec = await swept(['/bin/cat', file])
    expect(Buffer.from(fixture.work.readOutput(spec, 0, 1e9)).equals(bytes)).toBe(true)
  })

  test('keeps its order if stdout and stderr are merged, and stays apart if they are not', async () => {
    const script = ['/bin/sh', '-c', 'for i in 1 2 3; do echo out $i; echo err $i >&2; done']
    const one = await swept(script, { mergeStderr: true })
    expect(outputOf(fixture.work, one)).toBe('out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n')
    const two = await swept(script, { mergeStderr: false })
    expect(outputOf(fixture.work, two)).toBe('out 1\nout 2\nout 3\n')
    const { stderr } = attemptFolder(fixture.home, two.sessionId, 1)
    expect(fs.readFileSync(stderr, 'utf8')).toBe('err 1\nerr 2\nerr 3\n')
  })

  test('lies, like all files of the session, in files that only the user can read', async () => {
    const spec = await swept(['/bin/echo', 'secret'], { stdin: Buffer.from('secret'), prompt: Buffer.from('secret') })
    const session = path.join(fixture.home.sessions, spec.sessionId)
    const open = fs
      .readdirSync(session, { recursive: true, withFileTypes: true })
      .filter(entry => (fs.statSync(path.join(entry.parentPath, entry.name)).mode & 0o077) !== 0)
    expect(open.map(entry => entry.name)).toEqual([])
  })
})

describe('the recorder of a terminal', () => {
  beforeEach(() => {
    fixture = openTmuxFixture('tty')
  })
  afterEach(() => fixture.close())

  test('records fast output from the first to the last line', async () => {
    const spec = await swept(['/bin/sh', '-c', 'seq 20000'])
    const lines = outputOf(fixture.work, spec).split('\n')
    expect(lines).toEqual([...Array.from({ length: 20_000 }, (_, i) => String(i + 1)), ''])
  })

  test('records a single word of a program that ends at once', async () => {
    const orders = await Promise.all(Array.from({ length: 5 }, (_, i) => swept(['/usr/bin/printf', `word ${i}`])))
    expect(orders.map(spec => outputOf(fixture.work, spec))).toEqual(orders.map((_, i) => `word ${i}`))
  })

  test('records the output of a program up to the moment in which somebody kills it', async () => {
    const spec = await fixture.run(['/bin/sh', '-c', 'seq 5000; echo ready; exec sleep 1000'])
    await fixture.work.launch(spec)
    await fixture.until('it has spoken', () => outputOf(fixture.work, spec).includes('ready'))
    await fixture.work.sweep(spec, { force: true })
    expect(outputOf(fixture.work, spec)).toBe(`${Array.from({ length: 5_000 }, (_, i) => i + 1).join('\n')}\nready\n`)
  })

  test('loses no output when somebody kills it, even if the sweep comes late', async () => {
    const spec = await fixture.run(['/bin/sh', '-c', 'echo first; until [ -e go ]; do sleep 0.02; done; echo last'])
    const folder = attemptFolder(fixture.home, spec.sessionId, spec.attempt)
    await fixture.work.launch(spec)
    await fixture.until('it has spoken', () => outputOf(fixture.work, spec).includes('first'))
    process.kill(readRecorder(folder)?.pid as number, 'SIGKILL')
    fs.writeFileSync(path.join(spec.cwd, 'go'), '')
    await fixture.until('it has ended', () => fixture.work.attemptState(spec).exit !== null)
    fixture.work.acknowledge(spec)
    fs.rmSync(path.join(fixture.home.mailbox, `${attemptId(spec.sessionId, spec.attempt)}.exit`), { force: true })
    const shim = readClaim(folder)?.pid as number
    await fixture.until('its shim has looked for its letter', () => !isAlive(shim) || waitsWith(shim) === 'sleep 2')
    await fixture.work.sweep(spec, { force: false })
    expect(outputOf(fixture.work, spec).split('\n').filter(Boolean)).toEqual(['first', 'last'])
  })
})

/** Returns the command that the shim waits for: a sleep of one second at first, then longer ones. */
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

describe.each<Mode>(['headless', 'tty'])('the runtime runs %s programs', mode => {
  afterEach(() => fixture.close())

  test.each(HOMES)('in a home called %j', async name => {
    fixture = openTmuxFixture(mode, name)
    const spec = await swept(['/bin/echo', 'hello'])
    expect(fixture.work.attemptState(spec)).toMatchObject({ exit: { kind: 'code', code: 0 }, shim: 'dead' })
    expect(outputOf(fixture.work, spec)).toBe('hello\n')
  })
})
