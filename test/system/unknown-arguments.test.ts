import fs from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { expectRefusal } from './expect-refusal.ts'
import { TestHome } from './test-home.ts'

let testHome: TestHome
beforeAll(() => {
  testHome = new TestHome()
})
beforeEach(() => testHome.beginTest())
afterEach(() => testHome.endTest())
afterAll(() => testHome.close())

const SLEEPER = ['--headless', '--', 'sleep', '1000']

describe('oneshot', () => {
  const usage = { exit: 2, code: 'usage' } as const

  it('refuses an unknown command and suggests the nearest one', async () => {
    await expectRefusal(testHome, ['lsit'], { ...usage, says: 'there is no command "lsit"', hint: 'oneshot list?' })
    await expectRefusal(testHome, ['xyzzy'], { ...usage, says: 'no command "xyzzy"', hint: 'oneshot help lists all' })
  })

  it('refuses an unknown option and suggests the nearest one', async () => {
    const says = 'there is no option "--agnet" for run'
    await expectRefusal(testHome, ['run', '--agnet', 'demo'], { ...usage, says, hint: 'did you mean --agent?' })
    await expectRefusal(testHome, ['list', '-z'], {
      ...usage,
      says: 'no option "-z" for list',
      hint: 'oneshot list --help',
    })
  })

  it('refuses an unknown action of a command and suggests the nearest one', async () => {
    await expectRefusal(testHome, ['daemon', 'satrt'], {
      ...usage,
      says: 'daemon cannot take "satrt"',
      hint: 'daemon start',
    })
    await expectRefusal(testHome, ['config', 'gte'], { ...usage, says: 'config cannot take "gte"', hint: 'config get' })
  })

  it('refuses an unknown agent from an option or the environment and suggests the nearest one', async () => {
    await expectRefusal(testHome, ['run', '--agent', 'cluade', 'hello'], {
      exit: 2,
      code: 'agent-unknown',
      says: 'there is no agent "cluade"',
      hint: 'did you mean --agent claude?',
    })
    await expectRefusal(
      testHome,
      ['run', 'hello'],
      { exit: 2, code: 'config-invalid', says: 'ONESHOT_AGENT cannot be "cluade"', hint: 'did you mean claude?' },
      { env: { ONESHOT_AGENT: 'cluade' } },
    )
  })

  it('refuses an unknown config key, suggests the nearest one and names the file with the mistake', async () => {
    const invalid = { exit: 2, code: 'config-invalid', hint: 'did you mean max-time?' } as const
    await expectRefusal(testHome, ['run', '-c', 'maxtime=1h', '--', 'true'], {
      ...invalid,
      says: 'there is no config key "maxtime" (-c)',
    })
    fs.writeFileSync(testHome.path('.oneshot.toml'), 'max_time = "1h"\n')
    await expectRefusal(testHome, ['run', '--', 'true'], {
      ...invalid,
      says: `there is no config key "max_time" (${testHome.path('.oneshot.toml')})`,
    })
    fs.writeFileSync(testHome.path('.oneshot.toml'), 'max-time = \n')
    await expectRefusal(testHome, ['run', '--', 'true'], {
      ...invalid,
      says: `${testHome.path('.oneshot.toml')}:1:`,
      hint: 'key = "value"',
    })
  })
})

describe('oneshot', () => {
  it('refuses the name of an unknown session and suggests the nearest one', async () => {
    const unknown = { exit: 3, code: 'no-session' } as const
    for (const command of ['status', 'stop', 'wait', 'clean']) {
      await expectRefusal(testHome, [command, 'fix-auth'], {
        ...unknown,
        says: 'there is no session "fix-auth"',
        hint: 'oneshot list --all shows all of them',
      })
    }
    await testHome.run('--name', 'fix-auth', ...SLEEPER)
    const hint = 'did you mean fix-auth?'
    await expectRefusal(testHome, ['status', 'fix-atuh'], { ...unknown, says: 'there is no session "fix-atuh"', hint })
    for (const command of ['log', 'follow', 'attach']) {
      const answer = await testHome.oneshot(command, 'fix-atuh')
      expect(answer).toMatchObject({ code: 3, stdout: '' })
      expect(answer.stderr).toBe(`error: there is no session "fix-atuh"\nhint: ${hint}\n`)
    }
  })

  it('refuses status without a name in a directory without sessions', async () => {
    const says = `there is no session in this directory (${testHome.project})`
    await expectRefusal(testHome, ['status'], { exit: 3, code: 'no-session', says, hint: 'start one with oneshot run' })
    await testHome.run('--cwd', testHome.root, '--headless', '--name', 'above', '--', 'true')
    await expectRefusal(testHome, ['status'], {
      exit: 3,
      code: 'no-session',
      says,
      hint: `command-above is in ${testHome.root}: name it`,
    })
  })

  it('refuses the beginning of several names and lists the sessions it may mean', async () => {
    await testHome.run('--name', 'fix-auth', ...SLEEPER)
    await testHome.run('--name', 'fix-docs', ...SLEEPER)
    const ambiguous = { exit: 2, code: 'session-ambiguous', hint: 'type more of the name' } as const
    const says = '"fix" may mean 2 sessions: command-fix-docs, command-fix-auth'
    await expectRefusal(testHome, ['status', 'fix'], { ...ambiguous, says })
    await expectRefusal(testHome, ['stop', 'fix'], { ...ambiguous, says })
    await testHome.ok('stop', 'fix-d')
    expect(await testHome.status('fix')).toMatchObject({ name: 'command-fix-auth', phase: 'running' })
  })
})

describe('oneshot', () => {
  const usage = { exit: 2, code: 'usage' } as const

  it.each([
    [['run', '--max-time=soon', '--', 'true'], '--max-time cannot be "soon": it must be a duration such as 90s'],
    [['run', '--max-time=5x', '--', 'true'], '--max-time cannot be "5x"'],
    [['run', '--max-time=-5m', '--', 'true'], '--max-time cannot be "-5m"'],
    [['run', '--max-time=104000000d', '--', 'true'], '--max-time cannot be "104000000d"'],
    [['run', '--env=PATH', '--', 'true'], '--env cannot be "PATH": it must be KEY=VALUE'],
    [['wait', '--timeout=ever'], '--timeout cannot be "ever"'],
    [['clean', '--older-than=1week'], '--older-than cannot be "1week"'],
  ])('refuses the invalid value in %j and tells which values are allowed', async (args, sentence) => {
    const answer = await testHome.oneshot(...args)
    expect(answer).toMatchObject({ code: 2, stdout: '' })
    expect(answer.stderr).toContain(sentence)
  })

  it.each([
    [['log', '-n', 'many'], '--lines cannot be "many": it must be a whole number or all'],
    [['log', '--attempt', '0'], '--attempt cannot be "0": it must be a whole number from 1 on'],
    [['log', '--since', 'lunch'], '--since cannot be "lunch": it must be a duration such as 10m, or a date'],
  ])('refuses the invalid value in %j and tells which values are allowed', async (args, sentence) => {
    const answer = await testHome.oneshot(...args)
    expect(answer).toMatchObject({ code: 2, stdout: '' })
    expect(answer.stderr).toContain(sentence)
  })

  it('refuses a missing duration and tells how to write one', async () => {
    await expectRefusal(testHome, ['run', '--max-time'], {
      ...usage,
      says: '--max-time needs a value',
      hint: 'DURATION',
    })
  })

  it('refuses an invalid duration in the configuration and names its key', async () => {
    await expectRefusal(testHome, ['run', '-c', 'max-time=104000000d', '--', 'true'], {
      exit: 2,
      code: 'config-invalid',
      says: 'max-time (-c) cannot be "104000000d": it must be a duration',
      hint: 'oneshot help config',
    })
  })
})
