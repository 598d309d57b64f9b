import fs from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { run } from '../../src/os/run.ts'
import { which } from '../../src/os/which.ts'
import { binFolder } from './bin-folder.ts'
import { expectRefusal } from './expect-refusal.ts'
import { InProcessHome } from './in-process-home.ts'
import { MAIN } from './test-home.ts'

let testHome: InProcessHome
beforeEach(() => {
  testHome = new InProcessHome()
})
afterEach(() => testHome.close())

const SLEEPER = ['--headless', '--', 'sleep', '1000']

describe('a name', () => {
  const invalid = {
    exit: 2,
    code: 'name-invalid',
    says: 'cannot be a name: lower-case letters, digits and hyphens',
  } as const

  it.each([
    ['upper case', 'Fix', 'try --name fix'],
    ['a dot', 'fix.auth', 'try --name fix-auth'],
    ['a colon', 'fix:auth', 'try --name fix-auth'],
    ['a space', 'fix auth', 'try --name fix-auth'],
    ['a leading hyphen', '-fix', 'try --name fix'],
    ['a trailing hyphen', 'fix-', 'try --name fix'],
    ['64 characters', 'a'.repeat(64), `try --name ${'a'.repeat(28)}`],
    ['other letters', 'prüfung', 'try --name prufung'],
    ['a line break', 'fix\nauth', 'try --name fix-auth'],
    ['nothing in it', '', 'try --name my-task'],
  ])('with %s is refused, and one that would do is offered', async (_, name, hint) => {
    await expectRefusal(testHome, ['run', `--name=${name}`, '--', 'true'], { ...invalid, hint })
    expect(fs.existsSync(testHome.home.root)).toBe(false)
  })

  it('from the environment is refused by the name of its variable', async () => {
    await expectRefusal(
      testHome,
      ['run', '--', 'true'],
      {
        exit: 2,
        code: 'config-invalid',
        says: 'ONESHOT_TMUX_SESSION cannot be "fix.auth": it must be lower-case letters, digits and hyphens',
        hint: 'oneshot help config',
      },
      { env: { ONESHOT_TMUX_SESSION: 'fix.auth' } },
    )
  })

  it('of 63 characters is accepted', async () => {
    const task = `a${'-1'.repeat(31)}`
    expect(await testHome.run('--name', task, '--headless', '--', 'true')).toMatchObject({
      name: `command-${task}`,
      task,
    })
  })

  it('that several ask for at once goes to exactly one of them', async () => {
    const asked = Array.from({ length: 5 }, () => testHome.oneshot('run', '--name', 'fix', ...SLEEPER))
    const codes = (await Promise.all(asked)).map(({ code }) => code)
    expect(codes.filter(code => code === 6)).toHaveLength(4)
    expect(codes).toContain(0)
    expect(await testHome.list()).toHaveLength(1)
  })

  it('that a live session has is refused; once that one has ended, it means the newest', async () => {
    const first = await testHome.run('--name', 'fix', ...SLEEPER)
    await expectRefusal(testHome, ['run', '--name', 'fix', '--', 'true'], {
      exit: 6,
      code: 'name-taken',
      says: 'a session called command-fix is already running',
      hint: 'choose another --name, or: oneshot stop command-fix',
    })
    expect(await testHome.status('fix')).toMatchObject({ id: first.id, phase: 'running', pid: first.pid })
    await testHome.ok('stop', 'fix')
    const second = await testHome.run('--name', 'fix', '--headless', '--', 'sh', '-c', 'echo second')
    expect(second.name).toBe(first.name)
    await testHome.ended('fix')
    expect((await testHome.status('fix')).id).toBe(second.id)
    expect(await testHome.ok('log', 'command-fix')).toBe('second')
    expect(await testHome.status(first.id)).toMatchObject({ id: first.id, outcome: 'stopped' })
  })
})

describe('a directory', () => {
  const missing = { exit: 2, code: 'cwd-missing' } as const

  it('that does not exist is refused', async () => {
    const says = `cannot work in ${testHome.path('nowhere')}: it does not exist`
    await expectRefusal(testHome, ['run', '--cwd', 'nowhere', '--', 'true'], { ...missing, says, hint: 'check --cwd' })
  })

  it('that is a file, or below one, is refused', async () => {
    fs.writeFileSync(testHome.path('file'), '')
    const hint = 'check --cwd'
    const says = `cannot work in ${testHome.path('file')}: it is not a directory`
    await expectRefusal(testHome, ['run', '--cwd', 'file', '--', 'true'], { ...missing, says, hint })
    const below = `cannot work in ${testHome.path('file/sub')}: it does not exist`
    await expectRefusal(testHome, ['run', '--cwd', 'file/sub', '--', 'true'], { ...missing, says: below, hint })
  })

  it('that was removed under us is refused', async () => {
    fs.mkdirSync(testHome.path('gone'))
    const script = 'cd gone && rmdir ../gone && exec "$0" "$1" run -- true'
    const answer = await run('sh', ['-c', script, process.execPath, MAIN], { cwd: testHome.project, env: testHome.env })
    expect(answer).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'error: the current directory no longer exists\nhint: cd to another one\n',
    })
  })
})

describe('a prompt', () => {
  const agent = ['--agent', 'demo']
  const unreadable = { exit: 2, code: 'prompt-unreadable', hint: 'check --prompt-file' } as const
  const empty = { exit: 2, code: 'prompt-empty', hint: 'say what is to be done: oneshot run "fix the bug"' } as const

  it('in a file that is not there is refused', async () => {
    const says = 'cannot read the prompt from task.md: there is no such file'
    await expectRefusal(testHome, ['run', ...agent, '--prompt-file', 'task.md'], { ...unreadable, says })
  })

  it('in a folder is refused', async () => {
    const says = 'cannot read the prompt from .: it is a directory'
    await expectRefusal(testHome, ['run', ...agent, '--prompt-file', '.'], { ...unreadable, says })
  })

  it('in a file of somebody else is refused', async ({ skip }) => {
    const asNobody = ['--reuid=65534', '--regid=65534', '--clear-groups', '--']
    const isRoot = process.getuid?.() === 0
    skip(isRoot && which('setpriv', process.env, '/') === undefined, 'root reads everything, and there is no setpriv')
    const [program = '', ...before] = isRoot ? ['setpriv', ...asNobody, process.execPath] : [process.execPath]
    skip(
      isRoot && (await run('setpriv', [...asNobody, 'test', '-r', MAIN])).code !== 0,
      'nobody may not read our build',
    )
    fs.chmodSync(testHome.root, 0o755)
    fs.writeFileSync(testHome.path('task.md'), 'secret', { mode: isRoot ? 0o600 : 0o000 })
    const answer = await run(program, [...before, MAIN, 'run', ...agent, '--prompt-file', 'task.md'], {
      cwd: testHome.project,
      env: testHome.env,
    })
    expect(answer).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'error: cannot read the prompt from task.md: you may not read it\nhint: check --prompt-file\n',
    })
  })

  it.each([
    ['nothing', ''],
    ['white space', ' \t\r\n '],
  ])('of %s is refused wherever it comes from', async (_, text) => {
    fs.writeFileSync(testHome.path('task.md'), text)
    const input = Buffer.from(text)
    await expectRefusal(testHome, ['run', ...agent, text], { ...empty, says: 'the prompt is empty' })
    await expectRefusal(testHome, ['run', ...agent, '--prompt-file', 'task.md'], {
      ...empty,
      says: 'the prompt from task.md is empty',
    })
    for (const source of [['-'], ['--prompt-file', '-']]) {
      await expectRefusal(
        testHome,
        ['run', ...agent, ...source],
        { ...empty, says: 'the prompt from stdin is empty' },
        { input },
      )
    }
  })

  it('given twice, or to a command, is refused', async () => {
    const usage = { exit: 2, code: 'usage' } as const
    await expectRefusal(testHome, ['run', 'one', '--prompt-file', 'two'], {
      ...usage,
      says: 'there are two prompts: an argument and --prompt-file',
      hint: 'give one of them',
    })
    await expectRefusal(testHome, ['run', '--agent', 'command', 'one'], {
      ...usage,
      says: 'a command reads no prompt',
      hint: 'put the command after --',
    })
    await expectRefusal(testHome, ['run', 'fix', 'the', 'bug'], {
      ...usage,
      says: 'run does not take the argument "the"',
      hint: 'quote a prompt: oneshot run "fix the bug"',
    })
  })
})

describe('a program', () => {
  const missing = { exit: 1, code: 'program-missing' } as const

  it('that is not on PATH is refused', async () => {
    const says = 'no-such-program was not found on PATH'
    const hint = 'install it, or give its full path'
    await expectRefusal(testHome, ['run', '--', 'no-such-program', '-v'], { ...missing, says, hint })
  })

  it('of an agent that is not installed is refused', async () => {
    const says = 'codex was not found on PATH'
    const env = { PATH: binFolder(testHome, { tools: ['tmux'] }) }
    await expectRefusal(
      testHome,
      ['run', '--agent', 'codex', 'hello'],
      { ...missing, says, hint: 'npm install -g @openai/codex' },
      { env },
    )
  })

  it('that is not there, not executable or a folder is refused, each by its own words', async () => {
    fs.writeFileSync(testHome.path('plain'), '#!/bin/sh\n', { mode: 0o644 })
    const hint = 'check the path'
    await expectRefusal(testHome, ['run', '--', './absent'], { ...missing, says: './absent was not found', hint })
    await expectRefusal(testHome, ['run', '--', './plain/x'], { ...missing, says: './plain/x was not found', hint })
    await expectRefusal(testHome, ['run', '--', './plain'], {
      ...missing,
      says: './plain is not executable',
      hint: 'chmod +x',
    })
    await expectRefusal(testHome, ['run', '--', './.'], { ...missing, says: './. is a folder', hint })
  })
})
