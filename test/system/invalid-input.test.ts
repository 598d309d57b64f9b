import fs from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { run } from '../../src/os/run.ts'
import { which } from '../../src/os/which.ts'
import { binFolder } from './bin-folder.ts'
import { expectRefusal } from './expect-refusal.ts'
import { MAIN, TestHome } from './test-home.ts'

let testHome: TestHome
beforeAll(() => {
  testHome = new TestHome()
})
beforeEach(() => testHome.beginTest())
afterEach(() => testHome.endTest())
afterAll(() => testHome.close())

const SLEEPER = ['--headless', '--', 'sleep', '1000']

describe('oneshot run and names of sessions:', () => {
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
  ])('run refuses a name with %s and offers a valid one', async (_, name, hint) => {
    await expectRefusal(testHome, ['run', `--name=${name}`, '--', 'true'], { ...invalid, hint })
    expect(fs.existsSync(testHome.home.root)).toBe(false)
  })

  it('run refuses an invalid name from ONESHOT_TMUX_SESSION and names the variable', async () => {
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

  it('run accepts a name of 63 characters', async () => {
    const task = `a${'-1'.repeat(31)}`
    expect(await testHome.run('--name', task, '--headless', '--', 'true')).toMatchObject({
      name: `command-${task}`,
      task,
    })
  })

  it('one of several simultaneous runs gets the name, and the others are refused', async () => {
    const asked = Array.from({ length: 5 }, () => testHome.oneshot('run', '--name', 'fix', ...SLEEPER))
    const codes = (await Promise.all(asked)).map(({ code }) => code)
    expect(codes.filter(code => code === 6)).toHaveLength(4)
    expect(codes).toContain(0)
    expect(await testHome.list()).toHaveLength(1)
  })

  it('run refuses the name of a live session; after that session ends, the name means the newest session', async () => {
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

describe('oneshot run', () => {
  const missing = { exit: 2, code: 'cwd-missing' } as const

  it('refuses a working directory that does not exist', async () => {
    const says = `cannot work in ${testHome.path('nowhere')}: it does not exist`
    await expectRefusal(testHome, ['run', '--cwd', 'nowhere', '--', 'true'], { ...missing, says, hint: 'check --cwd' })
  })

  it('refuses a working directory that is a file or a path below a file', async () => {
    fs.writeFileSync(testHome.path('file'), '')
    const hint = 'check --cwd'
    const says = `cannot work in ${testHome.path('file')}: it is not a directory`
    await expectRefusal(testHome, ['run', '--cwd', 'file', '--', 'true'], { ...missing, says, hint })
    const below = `cannot work in ${testHome.path('file/sub')}: it does not exist`
    await expectRefusal(testHome, ['run', '--cwd', 'file/sub', '--', 'true'], { ...missing, says: below, hint })
  })

  it('refuses to start in a current directory that was removed', async () => {
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

describe('oneshot run', () => {
  const agent = ['--agent', 'demo']
  const unreadable = { exit: 2, code: 'prompt-unreadable', hint: 'check --prompt-file' } as const
  const empty = { exit: 2, code: 'prompt-empty', hint: 'say what is to be done: oneshot run "fix the bug"' } as const

  it('refuses a prompt file that does not exist', async () => {
    const says = 'cannot read the prompt from task.md: there is no such file'
    await expectRefusal(testHome, ['run', ...agent, '--prompt-file', 'task.md'], { ...unreadable, says })
  })

  it('refuses a folder as the prompt file', async () => {
    const says = 'cannot read the prompt from .: it is a directory'
    await expectRefusal(testHome, ['run', ...agent, '--prompt-file', '.'], { ...unreadable, says })
  })

  it('refuses a prompt file that the user may not read', async ({ skip }) => {
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
  ])('refuses a prompt of %s from an argument, a file and stdin', async (_, text) => {
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

  it('refuses two prompts, a prompt for a command, and a prompt without quotes', async () => {
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

describe('oneshot run', () => {
  const missing = { exit: 1, code: 'program-missing' } as const

  it('refuses a program that is not on PATH', async () => {
    const says = 'no-such-program was not found on PATH'
    const hint = 'install it, or give its full path'
    await expectRefusal(testHome, ['run', '--', 'no-such-program', '-v'], { ...missing, says, hint })
  })

  it('refuses an agent that is not installed and tells how to install it', async () => {
    const says = 'codex was not found on PATH'
    const env = { PATH: binFolder(testHome, { tools: ['tmux'] }) }
    await expectRefusal(
      testHome,
      ['run', '--agent', 'codex', 'hello'],
      { ...missing, says, hint: 'npm install -g @openai/codex' },
      { env },
    )
  })

  it('refuses a program that is missing, not executable or a folder, and names the reason', async () => {
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
