import fs from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { run } from '../../src/os/run.ts'
import { which } from '../../src/os/which.ts'
import { binFolder } from './bin-folder.ts'
import { TestHome } from './test-home.ts'
import { Terminal } from './terminal.ts'

let testHome: TestHome
beforeAll(() => {
  testHome = new TestHome()
})
beforeEach(() => testHome.beginTest())
afterEach(() => testHome.endTest())
afterAll(() => testHome.close())

const isMissing = (shell: string): boolean => which(shell, process.env, '/') === undefined

/** Runs a script in a shell that has `oneshot` on its PATH. Returns the lines that it printed. */
async function lines(shell: string, script: string, ...args: string[]): Promise<string[]> {
  const env = { ...testHome.env, PATH: `${binFolder(testHome)}:${testHome.env['PATH']}` }
  const answer = await run(shell, ['-c', script, ...args], { cwd: testHome.project, env, timeout: 60_000 })
  expect({ code: answer.code, stderr: answer.stderr }).toEqual({ code: 0, stderr: '' })
  return answer.stdout.split('\n').filter(line => line !== '')
}

describe('bash completion', () => {
  /** Returns the words that bash offers at Tab after these words. */
  const offers = (...words: string[]): Promise<string[]> => {
    const script = `source <(oneshot completion bash)
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _oneshot
printf '%s\\n' "\${COMPREPLY[@]}"`
    return lines('bash', script, 'bash', 'oneshot', ...words)
  }

  it('completes commands, options, values and config keys', async () => {
    expect(await offers('sta')).toEqual(['status'])
    expect(await offers('run', '--ma')).toEqual(['--max-time', '--max-restarts', '--max-output', '--max-turns'])
    expect(await offers('run', '--autonomy', 'e')).toEqual(['edits'])
    expect(await offers('run', '--agent', 'c')).toEqual(['claude', 'codex', 'command'])
    expect(await offers('run', '--agent', '=', 'cl')).toEqual(['claude'])
    expect(await offers('daemon', 're')).toEqual(['restart'])
    expect(await offers('config', 'get', 'max')).toEqual(['max-time', 'max-restarts', 'max-output'])
    expect(await offers('help', 'exit')).toEqual(['exit-codes'])
    expect(await offers('xyzzy')).toEqual([])
  })

  it('completes the names of the sessions that a command accepts', async () => {
    await testHome.run('--name', 'alive', '--headless', '--', 'sleep', '1000')
    await testHome.run('--name', 'over', '--headless', '--', 'true')
    await testHome.ended('over')
    expect(await offers('stop', '')).toEqual(['command-alive'])
    expect(await offers('clean', '')).toEqual(['command-over'])
    expect(await offers('status', 'command-')).toEqual(['command-alive', 'command-over'])
    expect(await offers('wait', 'command-over', 'command-a')).toEqual(['command-alive'])
    await testHome.run('--agent', 'demo', '--name', 'stopped', 'steps=1000')
    await testHome.ok('stop', 'stopped')
    expect(await offers('resume', '')).toEqual(['demo-stopped'])
    expect(await offers('send', '')).toEqual(['demo-stopped'])
  })

  it('leaves files, folders and commands to bash', async () => {
    fs.writeFileSync(testHome.path('task file.md'), '')
    fs.mkdirSync(testHome.path('task folder'))
    expect((await offers('run', '--prompt-file', 'ta')).sort()).toEqual(['task file.md', 'task folder'])
    expect(await offers('run', '--cwd', 'ta')).toEqual(['task folder'])
    expect(await offers('run', '--', 'setsi')).toContain('setsid')
  })

  it('evaluates no shell syntax in typed words', async () => {
    await offers('stop', '$(touch pwned)')
    await offers('run', '--prompt-file', '`touch pwned`')
    expect(fs.existsSync(testHome.path('pwned'))).toBe(false)
  })

  it('works at a real Tab key', async () => {
    const terminal = await Terminal.open(testHome, ['bash', '--noprofile', '--norc', '-i'])
    await terminal.enter(`PS1='> '; source <(oneshot completion bash); clear`)
    await terminal.shows(/^>$/)
    await terminal.press('-l', 'oneshot confi')
    await terminal.press('Tab')
    await terminal.shows('> oneshot config')
    await terminal.press('-l', 'get max-t')
    await terminal.press('Tab')
    await terminal.shows('> oneshot config get max-time')
    await terminal.press('Enter')
    await terminal.shows('5h')
  })
})

describe('zsh completion', () => {
  it('completes at a real Tab key', async ({ skip }) => {
    skip(isMissing('zsh'), 'zsh is not installed')
    const terminal = await Terminal.open(testHome, ['zsh', '-f', '-i'])
    await terminal.enter(`PS1='> '; autoload -U compinit; compinit -u -D; source <(oneshot completion zsh); clear`)
    await terminal.shows(/^>$/)
    await terminal.press('-l', 'oneshot confi')
    await terminal.press('Tab')
    await terminal.shows('> oneshot config')
    await terminal.press('-l', 'get max-t')
    await terminal.press('Tab')
    await terminal.shows('> oneshot config get max-time')
  })

  it('also loads from the fpath of zsh', async ({ skip }) => {
    skip(isMissing('zsh'), 'zsh is not installed')
    fs.mkdirSync(testHome.path('zfunc'))
    fs.writeFileSync(testHome.path('zfunc', '_oneshot'), await testHome.ok('completion', 'zsh'))
    const found = 'fpath=($PWD/zfunc $fpath); autoload -U compinit; compinit -u -D; echo ${_comps[oneshot]}'
    expect(await lines('zsh', found)).toEqual(['_oneshot'])
    expect(await lines('zsh', 'zsh -n zfunc/_oneshot')).toEqual([])
  })
})

describe('fish completion', () => {
  it('completes commands, values and sessions', async ({ skip }) => {
    skip(isMissing('fish'), 'fish is not installed')
    await testHome.run('--name', 'alive', '--headless', '--', 'sleep', '1000')
    const offers = async (typed: string): Promise<(string | undefined)[]> => {
      const script = 'oneshot completion fish | source; complete -C $argv[1]'
      return (await lines('fish', script, typed)).map(line => line.split('\t')[0])
    }
    expect(await offers('oneshot sta')).toEqual(['status'])
    expect(await offers('oneshot run --agent cl')).toEqual(['claude'])
    expect(await offers('oneshot stop ')).toEqual(['command-alive'])
    fs.writeFileSync(testHome.path('task.md'), '')
    expect(await offers('oneshot run --prompt-file ta')).toEqual(['task.md'])
    expect(await offers('oneshot stop "$(touch pwned)"')).toEqual([])
    expect(fs.existsSync(testHome.path('pwned'))).toBe(false)
  })
})
