import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { binFolder } from './bin-folder.ts'
import { expectRefusal } from './expect-refusal.ts'
import { TestHome, waitUntil } from './test-home.ts'

/** An agent that records its arguments. */
const STUB = 'cat >/dev/null; printf "%s\\n" "$@" >args.draft; mv args.draft args'

let testHome: TestHome
beforeEach(() => {
  testHome = new TestHome()
  testHome.env['PATH'] = binFolder(testHome, { tools: ['tmux'], scripts: { codex: STUB } })
})
afterEach(() => testHome.close())

const NOTICE = /^note: codex works with full autonomy: without asking, it may change any file and run any command\.\n/

async function said(...args: string[]): Promise<string> {
  const { code, stderr } = await testHome.oneshot('run', ...args)
  expect(code).toBe(0)
  return stderr
}

describe('oneshot run', () => {
  const marker = (): string => path.join(testHome.home.root, 'autonomy-told')

  it('warns once about full autonomy that nobody chose, and names the ways to reduce it', async () => {
    const notice = await said('--agent', 'codex', 'fix it')
    expect(notice).toMatch(NOTICE)
    expect(notice).toContain('--autonomy edits')
    expect(notice).toContain(`autonomy = "edits" in ${testHome.root}/config/oneshot/config.toml`)
    expect(fs.statSync(marker()).mode & 0o777).toBe(0o600)
    expect(await said('--agent', 'codex', 'fix it')).toBe('')
  })

  it('postpones the warning about full autonomy while --json or --quiet is given', async () => {
    expect(await said('--agent', 'codex', '--json', 'fix it')).toBe('')
    expect(await said('--agent', 'codex', '--quiet', 'fix it')).toBe('')
    expect(fs.existsSync(marker())).toBe(false)
    expect(await said('--agent', 'codex', 'fix it')).toMatch(NOTICE)
  })

  it('gives no warning about full autonomy if the user chose a level, or for the demo agent and commands', async () => {
    expect(await said('--agent', 'codex', '--autonomy', 'full', 'fix it')).toBe('')
    expect(await said('--agent', 'codex', '-c', 'autonomy=full', 'fix it')).toBe('')
    expect(await said('--agent', 'codex', '--autonomy', 'edits', 'fix it')).toBe('')
    expect(await said('--agent', 'demo', 'steps=1 delay=1ms')).toBe('')
    expect(await said('--', 'true')).toBe('')
    testHome.env['ONESHOT_AUTONOMY'] = 'full'
    expect(await said('--agent', 'codex', 'fix it')).toBe('')
    expect(fs.existsSync(marker())).toBe(false)
  })

  it('warns about full autonomy once also without a supervisor', async () => {
    testHome.env['ONESHOT_RESILIENT'] = 'false'
    expect((await testHome.oneshot('run', '--agent', 'codex', 'fix it')).stderr).toMatch(NOTICE)
    expect((await testHome.oneshot('run', '--agent', 'codex', 'fix it')).stderr).not.toMatch(NOTICE)
  })
})

it('run passes the autonomy on to the agent: from the option, else the environment, else a file', async () => {
  const argsOf = async (...options: string[]): Promise<string> => {
    const folder = fs.mkdtempSync(testHome.path('work-'))
    const file = path.join(folder, 'args')
    await testHome.ok('run', '--agent', 'codex', '--cwd', folder, ...options, 'fix it')
    return await waitUntil('it was started', () => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined))
  }
  expect(await argsOf()).toContain('--dangerously-bypass-approvals-and-sandbox\n')
  fs.writeFileSync(testHome.path('.oneshot.toml'), 'autonomy = "edits"\n')
  expect(await argsOf()).toContain('-s\nworkspace-write\n')
  testHome.env['ONESHOT_AUTONOMY'] = 'ask'
  expect(await argsOf()).toContain('-s\nread-only\n')
  expect(await argsOf('--autonomy', 'edits')).toContain('-s\nworkspace-write\n')
  expect(await argsOf('--model', 'm-1', '--effort', 'high')).toContain('-m\nm-1\n-c\nmodel_reasoning_effort="high"\n')
})

it('status shows the autonomy and the model of a session', async () => {
  const view = await testHome.run('--agent', 'demo', '--autonomy', 'ask', '--model', 'm-1', 'steps=1000 delay=50ms')
  expect(view).toMatchObject({ autonomy: 'ask', model: 'm-1' })
  const lines = (await testHome.ok('status', view.name)).split('\n')
  expect(lines).toContain('  autonomy     ask: it may only look unasked')
  expect(lines).toContain('  model        m-1')
})

describe('oneshot run', () => {
  const command = ['--headless', '--', 'true']

  it('refuses options for agents if it starts a command', async () => {
    for (const option of ['--autonomy=edits', '--model=m', '--effort=high', '--max-turns=3', '--budget-usd=1']) {
      await expectRefusal(testHome, ['run', option, ...command], {
        exit: 2,
        code: 'usage',
        says: `${option.split('=')[0]} is for an agent with a prompt, and this is a command`,
        hint: 'leave it out',
      })
    }
  })

  it('refuses an unknown autonomy level, an invalid budget and an unknown conversation', async () => {
    const cases = [
      [['--autonomy', 'some'], 'usage', '--autonomy cannot be "some": it must be one of full, edits, ask', 2],
      [['--budget-tokens', 'many'], 'usage', '--budget-tokens cannot be "many"', 2],
      [['--budget-usd', '0'], 'usage', '--budget-usd cannot be "0"', 2],
    ] as const
    for (const [options, code, says, exit] of cases) {
      const answer = await testHome.oneshot('run', '--json', '--agent', 'demo', ...options, 'fix it')
      expect(answer.code).toBe(exit)
      expect(JSON.parse(answer.stdout).error).toMatchObject({ code, message: expect.stringContaining(says) })
    }
    await expectRefusal(testHome, ['run', '--agent', 'demo', '--thread', 'nowhere', 'fix it'], {
      exit: 3,
      code: 'thread-missing',
      says: 'demo has no conversation nowhere',
      hint: '--cwd',
    })
  })

  it('refuses a budget without a supervisor to enforce it', async () => {
    testHome.env['ONESHOT_RESILIENT'] = 'false'
    await expectRefusal(testHome, ['run', '--agent', 'demo', '--budget-usd', '1', 'fix it'], {
      exit: 2,
      code: 'usage',
      says: 'a budget needs the supervisor, and resilient is false',
      hint: '-c resilient=true',
    })
  })
})

it('run --thread continues a conversation of another session', async () => {
  const first = await testHome.run('--agent', 'demo', '--name', 'one', 'steps=1 delay=1ms')
  const { thread } = await testHome.ended(first.name)
  const words = ['run', '--agent', 'demo', '--name', 'two', '--thread', String(thread), 'more steps=1 delay=1ms']
  await testHome.ok(...words)
  expect(await testHome.ended('two')).toMatchObject({ outcome: 'done', thread })
})
