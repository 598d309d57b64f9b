import fs from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SessionView } from '../../src/api/contract/responses.ts'
import { run } from '../../src/os/run.ts'
import { binFolder } from './bin-folder.ts'
import { type CommandResult, TestHome, MAIN, waitUntil } from './test-home.ts'
import { STUBBED_AGENTS, stubAgents } from './stub-agents.ts'

const AGENTS = STUBBED_AGENTS

/** An agent that records its input, and waits while a file `wait` exists. */
const STUB = `cat >received
printf '%s\\0' "$@" >args
env >environment
pwd -P >cwd
while [ -e wait ]; do sleep 0.02; done`

let testHome: TestHome
beforeAll(() => {
  testHome = new TestHome({ IS_SANDBOX: '1' }) // claude does not work with full autonomy as root elsewhere.
})
beforeEach(() => {
  testHome.beginTest()
  testHome.env['PATH'] = binFolder(testHome, {
    tools: ['tmux'],
    scripts: stubAgents(STUB),
  })
})
afterEach(() => testHome.endTest())
afterAll(() => testHome.close())

/** Prompts that a shell, a terminal or a decoder would change. */
const PROMPTS: Record<string, Buffer> = {
  quotes: Buffer.from(`it's "quoted" and \\"escaped\\" '\\'' \\`),
  newlines: Buffer.from('one\ntwo\n\n\nthree\n\n'),
  'no last newline': Buffer.from('one\ntwo'),
  'a substitution': Buffer.from('fix $(touch pwned) and ${HOME:-$(touch pwned)} and $HOME'),
  backticks: Buffer.from('fix `touch pwned`'),
  'a command line': Buffer.from(`'; touch pwned; ' && touch pwned | touch pwned > pwned; "`),
  'leading dashes': Buffer.from('--agent is an option, --json too\n- and this a list'),
  'a double dash': Buffer.from('-- rm -rf'),
  'escape sequences': Buffer.from('\u001b[31mred\u001b[0m \u0007 \u001b]0;title\u0007'),
  'CRLF and tabs': Buffer.from('\tone\r\n\ttwo\r\n'),
  unicode: Buffer.from('ünï ☃ 漢字 👩‍👩‍👧 \u202e \ufeff \ufffd é'),
  'invalid UTF-8': Buffer.from([0x66, 0xff, 0xfe, 0x80, 0xc3, 0x28, 0x0a, 0xed, 0xa0, 0x80]),
}

/** Prompts that no argument can hold. */
const FILES_ONLY: Record<string, Buffer> = {
  NULs: Buffer.from('one\0two\0\0three\0'),
  'five megabytes': Buffer.alloc(5 * 1024 * 1024, 'all work and no play, ☃ and $(touch pwned)\n'),
}

/** Each way in which a user passes a prompt with these bytes. */
const SOURCES: Record<string, (prompt: Buffer, cwd: string, ...options: string[]) => Promise<CommandResult>> = {
  'an argument': (prompt, cwd, ...options) => {
    const file = path.join(cwd, 'typed')
    fs.writeFileSync(file, prompt)
    const script =
      'node=$1 main=$2 file=$3; shift 3; text=$(cat "$file"; printf x); exec "$node" "$main" run "$@" "${text%x}"'
    const args = ['-c', script, 'sh', process.execPath, MAIN, file, ...options]
    return run('sh', args, { cwd, env: testHome.env, timeout: 60_000 })
  },
  stdin: (prompt, cwd, ...options) => testHome.call(['run', ...options, '-'], { cwd, input: prompt }),
  'a file': (prompt, cwd, ...options) => {
    fs.writeFileSync(path.join(cwd, 'prompt.md'), prompt)
    return testHome.call(['run', ...options, '--prompt-file', 'prompt.md'], { cwd })
  },
}

describe.each(Object.keys(SOURCES))('a prompt from %s', source => {
  const give = SOURCES[source] as (typeof SOURCES)[string]
  const kinds = source === 'an argument' ? PROMPTS : { ...PROMPTS, ...FILES_ONLY }

  const tags = source === 'stdin' ? ['extended'] : []
  it('reaches the agent byte for byte, and no shell executes any of it', { tags }, async () => {
    const check = async ([kind, prompt]: [string, Buffer]): Promise<void> => {
      const folder = fs.mkdtempSync(path.join(testHome.root, 'work-'))
      const answer = await give(prompt, folder, '--agent', 'claude', '--follow')
      expect({ kind, code: answer.code }, answer.stdout).toEqual({ kind, code: 0 })
      const received = fs.readFileSync(path.join(folder, 'received'))
      expect(received.equals(prompt), `${kind}: ${received.subarray(0, 200).toString('latin1')}`).toBe(true)
    }
    await Promise.all(Object.entries(kinds).map(check))
    // Folders come and go meanwhile.
    const everything = await waitUntil('all is looked at', () => {
      try {
        return fs.readdirSync(testHome.root, { recursive: true, encoding: 'utf8' })
      } catch {
        return undefined
      }
    })
    expect(everything.filter(name => path.basename(name) === 'pwned')).toEqual([])
  })

  it('appears in no command line and no environment while the agent works', async () => {
    fs.writeFileSync(testHome.path('wait'), '')
    const secret = `s3cr3t-${source.replaceAll(/\W+/g, '-')}`
    const answer = await give(Buffer.from(`use ${secret}`), testHome.project, '--agent', 'claude', '--name', 'quiet')
    expect(answer).toMatchObject({ code: 0, stdout: 'claude-quiet\n' })
    await waitUntil('it has its prompt', () => (fs.existsSync(testHome.path('cwd')) ? true : undefined))
    expect(fs.readFileSync(testHome.path('received'), 'utf8')).toContain(secret)
    expect(processesThatTell(secret)).toEqual([])
    fs.rmSync(testHome.path('wait'))
    expect(await testHome.ended('quiet')).toMatchObject({ outcome: 'done' })
  })
})

/** Processes with this text in their command line or environment. */
function processesThatTell(text: string): string[] {
  return fs
    .readdirSync('/proc')
    .filter(pid => /^\d+$/.test(pid))
    .filter(pid => ['cmdline', 'environ'].some(file => contentOf(`/proc/${pid}/${file}`).includes(text)))
    .map(pid => contentOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' '))
}

function contentOf(file: string): string {
  try {
    return fs.readFileSync(file, 'latin1')
  } catch {
    return '' // The process has ended meanwhile, or belongs to another user.
  }
}

const argsOf = (folder: string): string[] => fs.readFileSync(path.join(folder, 'args'), 'utf8').split('\0').slice(0, -1)

it('run --prompt-file - reads the prompt from stdin', async () => {
  const answer = await testHome.call(['run', '--follow', '--prompt-file', '-'], { input: Buffer.from('a\0b') })
  expect(answer.code).toBe(0)
  expect(fs.readFileSync(testHome.path('received'), 'latin1')).toBe('a\0b')
})

it('run passes the arguments after -- unchanged to every agent', async () => {
  const own = ['--x=a b', '--empty=', `--y=it's "so"`, '--z=$(touch pwned)', '--b=`touch pwned`', '--n=a\nb', '--u=ü']
  const check = async (agent: string): Promise<void> => {
    const cwd = testHome.path(agent)
    fs.mkdirSync(cwd)
    const answer = await testHome.call(['run', '--agent', agent, '--follow', 'hello', '--', ...own], { cwd })
    expect({ agent, code: answer.code }).toEqual({ agent, code: 0 })
    const args = argsOf(cwd)
    const from = args.indexOf('--x=a b')
    expect(args.slice(from, from + own.length)).toEqual(own)
    expect(fs.readFileSync(path.join(cwd, 'received'), 'utf8')).toBe('hello')
    expect(fs.existsSync(path.join(cwd, 'pwned'))).toBe(false)
  }
  await Promise.all(AGENTS.map(check))
})

it('run refuses an argument that is not UTF-8 instead of changing it', async () => {
  const script = 'exec "$0" "$1" run --agent claude hello -- "$(printf "\\377abc")"'
  const answer = await run('sh', ['-c', script, process.execPath, MAIN], { cwd: testHome.project, env: testHome.env })
  expect(answer).toMatchObject({ code: 2, stdout: '' })
  expect(answer.stderr).toContain('argument 1 after -- is not valid UTF-8')
  expect(answer.stderr).toContain('hint: pass such bytes in a file')
})

it('list and status print no control characters of a prompt', async () => {
  await testHome.ok('run', '--agent', 'claude', '--name', 'evil', '\u001b[2J\u001b]0;owned\u0007do\rthis\u0008')
  for (const words of [['list'], ['status', 'evil'], ['list', '-o', 'wide']]) {
    const { stdout } = await testHome.oneshot(...words)
    expect(stdout).not.toMatch(/[^\P{Cc}\n]/u)
    expect(stdout).toContain('do this')
  }
})

describe('oneshot run', () => {
  const agentOf = async (...args: string[]): Promise<string> => (await testHome.run(...args, 'hello')).agent

  it('takes the agent from --agent, else -c, the environment, the project’s file, the user’s file, PATH', async () => {
    const user = path.join(testHome.env['XDG_CONFIG_HOME'] as string, 'oneshot', 'config.toml')
    fs.mkdirSync(path.dirname(user), { recursive: true })
    fs.writeFileSync(user, 'agent = "gemini"\n')
    fs.writeFileSync(testHome.path('.oneshot.toml'), 'agent = "opencode"\n')
    fs.mkdirSync(testHome.path('sub'))
    testHome.env['ONESHOT_AGENT'] = 'codex'
    expect(await agentOf('-c', 'agent=claude', '--agent', 'pi')).toBe('pi')
    expect(await agentOf('-c', 'agent=claude')).toBe('claude')
    expect(await agentOf()).toBe('codex')
    delete testHome.env['ONESHOT_AGENT']
    expect(await agentOf('--cwd', 'sub')).toBe('opencode')
    fs.rmSync(testHome.path('.oneshot.toml'))
    expect(await agentOf()).toBe('gemini')
    fs.rmSync(user)
    expect(await agentOf()).toBe('claude')
  })

  it('looks for an agent on PATH in the documented order, and suggests the demo agent if there is none', async () => {
    const bin = testHome.env['PATH'] as string
    for (const agent of AGENTS) {
      expect(await agentOf()).toBe(agent)
      fs.rmSync(path.join(bin, agent))
    }
    const before = await testHome.list()
    const answer = await testHome.oneshot('run', 'hello')
    expect(answer).toMatchObject({ code: 4, stdout: '' })
    expect(answer.stderr).toContain(`error: no agent was found on PATH (looked for ${AGENTS.join(', ')})`)
    expect(answer.stderr).toContain('hint: try it without one: oneshot run --agent demo "show me"')
    const program = await testHome.oneshot('run', '--json', 'hello')
    expect(program.code).toBe(4)
    expect(JSON.parse(program.stdout)).toMatchObject({ error: { code: 'agent-missing' } })
    expect(await testHome.list()).toHaveLength(before.length)
  })
})

describe('the environment of a session', () => {
  const environmentOf = (folder: string): Map<string, string> => {
    const pairs = contentOf(path.join(folder, 'environ'))
      .split('\0')
      .filter(pair => pair !== '')
    return new Map(
      pairs.map(pair => [
        pair.slice(0, pair.indexOf('=')),
        Buffer.from(pair.slice(pair.indexOf('=') + 1), 'latin1').toString(),
      ]),
    )
  }
  const tell = ['--', 'sh', '-c', 'cat /proc/self/environ >environ.draft; pwd -P >cwd; mv environ.draft environ']
  const told = async (
    folder: string,
    ...options: string[]
  ): Promise<{ session: SessionView; env: Map<string, string> }> => {
    const session = await testHome.run('--cwd', folder, ...options, ...tell)
    await testHome.ended(session.id)
    return { session, env: environmentOf(folder) }
  }

  it.each(['--headless', '--tty'])(
    'equals the caller’s (%s), without the variables of the caller’s own terminal',
    async mode => {
      Object.assign(testHome.env, {
        TMUX: '/tmp/other,1,0',
        TMUX_PANE: '%7',
        ONESHOT_ATTEMPT: 'another.1',
        WEIRD: `'"$(touch pwned)\n\\ ü`,
      })
      const { session, env } = await told(
        testHome.project,
        mode,
        '--env',
        'ADDED=a=b',
        '--env',
        'HOME=/elsewhere',
        '--env',
        'EMPTY=',
      )
      expect(env.has('TMUX')).toBe(false)
      expect(env.has('TMUX_PANE')).toBe(false)
      expect(env.get('ONESHOT_ATTEMPT')).toBe(`${session.id}.1`)
      expect(env.get('ONESHOT_SESSION')).toBe(session.name)
      expect(env.get('WEIRD')).toBe(testHome.env['WEIRD'])
      expect([env.get('ADDED'), env.get('HOME'), env.get('EMPTY')]).toEqual(['a=b', '/elsewhere', ''])
      expect(fs.existsSync(testHome.path('pwned'))).toBe(false)
    },
  )

  it('comes from the call that starts the session, not from the supervisor', async () => {
    for (const call of ['first', 'second']) {
      testHome.env['CALL'] = call
      expect((await told(testHome.project, '--headless')).env.get('CALL')).toBe(call)
    }
  })

  it('includes the umask of the caller', async () => {
    const script = 'umask "$1"; shift; exec "$@"'
    for (const umask of ['0022', '0007', '0077']) {
      const words = [process.execPath, MAIN, 'run', '--follow', '--', 'sh', '-c', 'umask']
      const answer = await run('sh', ['-c', script, 'sh', umask, ...words], {
        cwd: testHome.project,
        env: testHome.env,
      })
      expect(answer).toMatchObject({ code: 0, stdout: `${umask}\n` })
    }
  })

  it('names the real working directory behind a link', async () => {
    const folder = testHome.path(`it's a "folder" $(touch pwned) ü`)
    fs.mkdirSync(folder)
    fs.symlinkSync(folder, testHome.path('link'))
    testHome.env['PWD'] = testHome.project
    const { session, env } = await told(testHome.path('link'), '--headless')
    expect(session.cwd).toBe(folder)
    expect(fs.readFileSync(path.join(folder, 'cwd'), 'utf8')).toBe(`${folder}\n`)
    expect(env.get('PWD')).toBe(folder)
    expect(fs.existsSync(testHome.path('pwned'))).toBe(false)
  })
})
