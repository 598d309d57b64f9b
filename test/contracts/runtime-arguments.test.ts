import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { decodeLossless } from '../../src/lib/text/lossless-utf8.ts'
import type { LaunchSpec } from '../../src/ports/runtime.ts'
import { attemptFolder } from '../../src/state/session-folder.ts'
import { openTmuxFixture, type TmuxFixture, type LaunchOverrides } from './tmux-fixture.ts'

const ODD = [
  'plain',
  '',
  ' two  words ',
  "it's",
  '"double"',
  '$(touch pwned)',
  '`touch pwned`',
  '$HOME ${PATH}',
  '--leading',
  '-n',
  'a\nb\n',
  'tab\there',
  'back\\slash\\n',
  '*?[a-z]',
  '~root',
  'a;b&c|d>e<f',
  '#S #{pid} %H %%',
  '!history',
  'grüße 修 🚀',
  '=',
  'a=b',
  '\u0001\u001b[31m\u007f',
]
const PATH = process.env['PATH'] ?? ''

describe.each(['headless', 'tty'] as const)('a launched %s program', mode => {
  let fixture: TmuxFixture
  beforeEach(() => {
    fixture = openTmuxFixture(mode)
  })
  afterEach(() => fixture.close())

  /** Writes its words into a file of its own, so that no terminal touches them. */
  const TELLER = `for word; do printf '%s\\0' "$word"; done >told`
  const toldBy = async (argv: readonly string[], wishes: LaunchOverrides = {}): Promise<string[]> => {
    const spec = await ended(argv, wishes)
    const text = fs.readFileSync(path.join(spec.cwd, 'told'), 'utf8')
    return text.split('\0').slice(0, -1)
  }
  const ended = async (argv: readonly string[], wishes: LaunchOverrides = {}): Promise<LaunchSpec> => {
    const spec = await fixture.run(argv, wishes)
    await fixture.work.launch(spec)
    await fixture.until('it has ended', () => fixture.work.attemptState(spec).exit !== null)
    return spec
  }

  test('gets the bytes of a variable that is not UTF-8, and the sweep empties its copy of the environment', async () => {
    const told = path.join(fixture.home.root, 'told')
    const saved = { PATH, RAW: decodeLossless(Buffer.from([0xff, 0x27, 0xc3, 0x0a, 0xe2, 0x82])), SECRET: 'hunter2' }
    const spec = await ended(['/bin/cp', '/proc/self/environ', told], { saved })
    expect(fs.readFileSync(told).includes(Buffer.from([0x3d, 0xff, 0x27, 0xc3, 0x0a, 0xe2, 0x82, 0]))).toBe(true)
    await fixture.work.sweep(spec, { force: true })
    const { launch, enter } = attemptFolder(fixture.home, spec.sessionId, spec.attempt)
    expect([launch, enter].map(file => fs.readFileSync(file, 'utf8'))).toEqual(['', ''])
  })

  test('gets its arguments unchanged', async () => {
    expect(await toldBy(['/bin/sh', '-c', TELLER, 'sh', ...ODD])).toEqual(ODD)
    expect(fs.readdirSync(fixture.home.root)).not.toContain('pwned')
  })

  test('gets exactly the given environment, its marker and its name, and no variable of the supervisor', async () => {
    const given = Object.fromEntries(ODD.filter(value => !value.includes('\0')).map((value, i) => [`ODD_${i}`, value]))
    const special = {
      IFS: ':',
      PS4: '$(touch pwned)',
      UID: '77',
      PPID: '1',
      OLDPWD: '/a',
      ENV: '/e',
      LINENO: '3',
      TERM: 'vt52',
    }
    const nameless = { 'BASH_FUNC_f%%': '() { echo hi; }', '-x': 'dash', 'a b': 'space', 'x;touch pwned': 'y', '': 'z' }
    const saved = {
      PATH,
      ...given,
      ...special,
      ...nameless,
      TMUX: '/tmp/theirs,1,0',
      TMUX_PANE: '%7',
      ONESHOT_ATTEMPT: 'other.1',
    }
    const told = path.join(fixture.home.root, 'told')
    const spec = await ended(['/bin/cp', '/proc/self/environ', told], { saved, env: { ADDED: 'by the agent' } })
    const entries = fs.readFileSync(told, 'utf8').split('\0').slice(0, -1)
    const seen = entries.map(entry => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)])
    expect(Object.fromEntries(seen)).toEqual({
      PATH,
      ...given,
      ...special,
      ADDED: 'by the agent',
      ...(mode === 'tty' && { TERM: 'screen-256color' }),
      ONESHOT_ATTEMPT: `${spec.sessionId}.1`,
      ONESHOT_SESSION: spec.name,
    })
  })

  test.each(['with space', "quo'te", '$(x)', '-dash', 'a=b', '#{pane_id}%H', 'grüße\n修'])(
    'can run in a folder called %j and lie in it',
    async name => {
      const folder = path.join(fixture.home.root, name)
      fs.mkdirSync(folder)
      const program = path.join(folder, 'prog=ram $x')
      fs.writeFileSync(program, `#!/bin/sh\npwd >"$1"\n`, { mode: 0o755 })
      const told = path.join(fixture.home.root, 'told')
      const spec = await ended([program, told], { cwd: folder, saved: { PATH: '/nowhere' } })
      expect(fixture.work.attemptState(spec).exit).toEqual({ kind: 'code', code: 0 })
      expect(fs.readFileSync(told, 'utf8')).toBe(`${folder}\n`)
    },
  )

  test('ends with code 127 if it does not exist, and with 126 if its folder does not exist', async () => {
    const missing = await ended([path.join(fixture.home.root, 'nothing')])
    expect(fixture.work.attemptState(missing).exit).toEqual({ kind: 'code', code: 127 })
    const nowhere = await ended(['/bin/true'], { cwd: path.join(fixture.home.root, 'nowhere') })
    expect(fixture.work.attemptState(nowhere).exit).toEqual({ kind: 'code', code: 126 })
  })

  test('reads a prompt of five megabytes with all byte values', async () => {
    const prompt = Buffer.alloc(5_000_000, Buffer.from(Array.from({ length: 256 }, (_, i) => i)))
    const spec = await ended(['/bin/sh', '-c', 'cat >told'], { stdin: prompt })
    expect(fs.readFileSync(path.join(spec.cwd, 'told')).equals(prompt)).toBe(true)
  })

  test(mode === 'tty' ? 'has a terminal' : 'has an empty stdin and no terminal', async () => {
    const look =
      '[ -t 0 ] && echo tty || echo none; [ -t 3 ] && echo tty || echo none; [ -t 2 ] && echo tty || echo none'
    const spec = await ended(['/bin/sh', '-c', `exec 3>&1; { ${look}; } >told`])
    const kind = mode === 'tty' ? 'tty' : 'none'
    expect(fs.readFileSync(path.join(spec.cwd, 'told'), 'utf8')).toBe(`${kind}\n${kind}\n${kind}\n`)
  })
})
