import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadConfig } from '../../api/config/load-config.ts'
import { parseLine } from '../../../testkit/cli/commands.ts'
import type { CommandContext } from '../context.ts'
import { readPrompt } from '../args/read-prompt-or-message.ts'
import { resolveDirectory, buildRunRequest, refuseUnsupervisedOptions } from './run-request.ts'

let folder: string

beforeAll(() => {
  folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'oneshot-run-')))
  fs.writeFileSync(path.join(folder, 'task.md'), Buffer.from([0x68, 0x69, 0x00, 0xff]))
  fs.writeFileSync(path.join(folder, 'blank.md'), ' \n\t\n')
  fs.writeFileSync(path.join(folder, 'pi'), '', { mode: 0o755 })
  fs.symlinkSync(folder, path.join(folder, 'link'))
})

afterAll(() => fs.rmSync(folder, { recursive: true }))

async function request(argv: string[], env: NodeJS.ProcessEnv = {}) {
  const args = parseLine(['run', ...argv])
  const host = { cwd: () => folder, environment: () => undefined }
  const screen = { input: { isTerminal: false } }
  const context = {
    argv: ['run', ...argv],
    env: { PATH: folder, ...env },
    host,
    screen,
  } as unknown as CommandContext
  const cwd = resolveDirectory(args, context)
  const config = await loadConfig({ env: { XDG_CONFIG_HOME: folder, ...env }, cwd, overrides: [] })
  return buildRunRequest(args, context, { config, cwd, prompt: await readPrompt(args, context) })
}

test('a prompt goes to the first agent on PATH, as bytes, with the arguments after --', async () => {
  expect(
    await request(['fix "it" $(now)', '--cwd', folder, '--', '--model', 'x'], { TMUX: '/s', ONESHOT_ATTEMPT: 'a.1' }),
  ).toEqual({
    agent: 'pi',
    argv: ['--model', 'x'],
    autonomy: 'full',
    prompt: Buffer.from('fix "it" $(now)').toString('base64'),
    cwd: folder,
    env: { PATH: folder },
    supervision: {
      maxTime: 18_000_000,
      restart: { limit: 10, window: 600_000, nextDelay: 2_000, maxDelay: 64_000 },
      patience: { limit: 86_400_000, absence: 259_200_000 },
      saving: { mode: 'ref', interval: 300_000, push: null },
      alertAfter: 3,
      maxOutput: 1024 ** 3,
    },
  })
})

test('the supervision options come from the line, else from the configuration', async () => {
  const line = ['--restart', 'on-failure', '--max-restarts', '3', '--silence', 'none', '--limit-wait', 'off']
  const given = await request([...line, '--memory', '2G', '--stop-grace', '30s', '--', 'ls'], {
    ONESHOT_RESTART_WINDOW: '1h',
    ONESHOT_RESUME_WITHIN: 'none',
    ONESHOT_SILENCE: '20m',
  })
  expect(given.supervision).toMatchObject({
    restart: { on: 'failure', limit: 3, window: 3_600_000 },
    patience: { silence: null, limit: 0, absence: null },
    memory: 2 * 1024 ** 3,
    stopGrace: 30_000,
  })
  await expect(request(['do it', '--stop-grace', '11m'], {})).rejects.toMatchObject({ code: 'usage' })
  const never = await request(['do it', '--restart', 'never'], { ONESHOT_MEMORY: '512M', ONESHOT_SILENCE: '20m' })
  expect(never.supervision).toMatchObject({
    restart: { limit: 0 },
    patience: { silence: 1_200_000 },
    memory: 512 * 1024 ** 2,
  })
  await expect(request(['--max-restarts', '3', '--', 'ls'], {})).rejects.toMatchObject({
    code: 'usage',
    hint: 'add --restart on-failure',
  })
})

test('without a prompt the arguments after -- are a command, whatever agent is configured', async () => {
  const given = await request(['--tty', '--max-time', 'none', '--env', 'A=1', '--cwd', folder, '--', 'ls', '-l'], {
    ONESHOT_AGENT: 'codex',
    ONESHOT_TMUX_SESSION: 'nightly',
  })
  expect(given).toMatchObject({
    agent: 'command',
    argv: ['ls', '-l'],
    mode: 'tty',
    supervision: { maxTime: null },
    name: 'nightly',
  })
  expect(given.env).toMatchObject({ A: '1' })
  expect(given).not.toHaveProperty('prompt')
})

test('the agent options of the line precede those of the configuration', async () => {
  const requestOptions = ['--model', 'opus', '--effort', 'high', '--thread', 't-1', '--max-turns', '9']
  const budget = ['--budget-usd', '2.5', '--budget-tokens', '500k']
  expect(
    await request(['x', '--agent', 'demo', ...requestOptions, ...budget], { ONESHOT_AUTONOMY: 'edits' }),
  ).toMatchObject({
    autonomy: 'edits',
    model: 'opus',
    effort: 'high',
    thread: 't-1',
    supervision: { limits: { usd: 2.5, tokens: 500_000, turns: 9 } },
  })
  const strict = await request(['x', '--agent', 'demo', '--autonomy', 'ask'], { ONESHOT_AUTONOMY: 'edits' })
  expect(strict.autonomy).toBe('ask')
  expect(strict.supervision).not.toHaveProperty('limits')
})

test.each(['--autonomy=full', '--model=opus', '--effort=high', '--max-turns=3', '--budget-usd=1', '--thread=t'])(
  'a command refuses %s, which applies to agents only',
  async option => {
    const [name] = option.split('=')
    await expect(request([option, '--', 'ls'])).rejects.toMatchObject({
      code: 'usage',
      message: `${name} is for an agent with a prompt, and this is a command`,
    })
  },
)

test('buildRunRequest reads a prompt file byte by byte, and resolves symbolic links to the directory', async () => {
  const given = await request([
    '--agent',
    'demo',
    '--prompt-file',
    path.join(folder, 'task.md'),
    '--cwd',
    path.join(folder, 'link'),
  ])
  expect(given).toMatchObject({
    agent: 'demo',
    cwd: folder,
    prompt: Buffer.from([0x68, 0x69, 0x00, 0xff]).toString('base64'),
  })
})

test.each([
  [['x', '--cwd', '/nowhere'], 'cwd-missing'],
  [['x', '--cwd', '/etc/passwd'], 'cwd-missing'],
  [['x', '--name', 'Fix Auth'], 'name-invalid'],
  [['x', '--tty', '--headless'], 'usage'],
  [['x', '--prompt-file', 'y'], 'usage'],
  [[' \n '], 'prompt-empty'],
  [['--prompt-file', '/nowhere/task.md'], 'prompt-unreadable'],
  [['--prompt-file', '/'], 'prompt-unreadable'],
  [['--agent', 'demo', '--', 'ls'], 'usage'],
  [['--agent', 'nobody', '--', 'ls'], 'agent-unknown'],
  [['--'], 'usage'],
  [[], 'usage'],
])('run refuses %j as %s', async (argv, code) => {
  await expect(request(argv)).rejects.toMatchObject({ code })
})

test('the refusal of a blank prompt file names it, and the hint corrects an invalid name', async () => {
  const blank = path.join(folder, 'blank.md')
  await expect(request(['--prompt-file', blank])).rejects.toMatchObject({
    code: 'prompt-empty',
    message: expect.stringContaining(blank),
  })
  await expect(request(['x', '--name', 'Fix Auth'])).rejects.toMatchObject({ hint: 'try --name fix-auth' })
})

test.each([
  [['--on-exit', 'make deploy "to here"'], {}, ['make', 'deploy', 'to here']],
  [['--on-exit-shell', 'make | tee log'], {}, ['sh', '-c', 'make | tee log']],
  [[], { ONESHOT_ON_EXIT: 'say $HOME' }, ['say', '$HOME']],
  [[], { ONESHOT_ON_EXIT_SHELL: 'say $HOME' }, ['sh', '-c', 'say $HOME']],
  [['--on-exit', 'this'], { ONESHOT_ON_EXIT_SHELL: 'that' }, ['this']],
  [['--on-exit', ''], { ONESHOT_ON_EXIT: 'that' }, undefined],
  [[], { ONESHOT_ON_EXIT: 'that', ONESHOT_RESILIENT: 'false' }, undefined],
  [['--on-exit', 'this'], { ONESHOT_RESILIENT: 'false' }, ['this']],
])('%j with %j runs %j when the session has ended', async (argv, env, words) => {
  expect((await request([...argv, 'fix it', '--cwd', folder], env)).supervision.onExit).toEqual(words)
})

test('a session runs one command at its end, and needs the supervisor for it', async () => {
  const both = { ONESHOT_ON_EXIT: 'this', ONESHOT_ON_EXIT_SHELL: 'that' }
  await expect(request(['fix it', '--cwd', folder], both)).rejects.toMatchObject({ code: 'usage' })
  const given = await request(['--on-exit', 'this', 'fix it', '--cwd', folder])
  expect(() => refuseUnsupervisedOptions(given)).toThrow('on-exit needs the supervisor')
})
