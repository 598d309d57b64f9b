import path from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import type { LaunchRequest } from '../../../ports/agent.ts'
import { makeLaunchRequest } from '../../../../testkit/agents/fixtures.ts'
import { put, tempFolder } from '../../../../testkit/agents/temp-folder.ts'
import { validate } from './validate-launch.ts'

let home = ''
beforeEach(() => {
  home = tempFolder()
})

const root = { isRoot: true }
const ordinaryUser = { isRoot: false }

function request(own: readonly string[], changes: Partial<LaunchRequest> = {}): LaunchRequest {
  return makeLaunchRequest({ argv: ['/bin/claude', ...own], env: { HOME: home }, ...changes })
}

test('as root, claude works with full autonomy only where a variable declares a sandbox', () => {
  expect(validate(request([]), root)).toEqual({
    problem: expect.stringContaining('as root'),
    remedy: expect.stringMatching(/--env IS_SANDBOX=1.*--autonomy edits.*ordinary user/),
  })
  expect(validate(request([], { env: { HOME: home, IS_SANDBOX: 'true' } }), root)).not.toBeNull()
  expect(validate(request([], { env: { HOME: home, IS_SANDBOX: '1' } }), root)).toBeNull()
  expect(validate(request([], { env: { HOME: home, CLAUDE_CODE_BUBBLEWRAP: 'true' } }), root)).toBeNull()
  expect(validate(request([], { autonomy: 'edits' }), root)).toBeNull()
  expect(validate(request([], { autonomy: 'ask' }), root)).toBeNull()
  expect(validate(request([]), ordinaryUser)).toBeNull()
})

test("the user's own settings may declare the sandbox too", () => {
  const settings = path.join(home, '.claude/settings.json')
  put(settings, '{"env":{"IS_SANDBOX":"1"}}')
  expect(validate(request([]), root)).toBeNull()
  put(settings, '{"env":')
  expect(validate(request([]), root)).not.toBeNull()
})

test.each([
  [['--resume', 'x'], '--resume', /oneshot send/],
  [['-c'], '-c', /oneshot send/],
  [['--session-id=x'], '--session-id', /oneshot send/],
  [['--model', 'opus', '--output-format', 'json'], '--output-format', /stream-json/],
  [['-p'], '-p', /always given/],
  [['--no-session-persistence'], '--no-session-persistence', /cannot be resumed/],
  [['--worktree', 'x'], '--worktree', /every attempt/],
  [['--bg'], '--bg', /supervises only/],
  [['--version'], '--version', /claude itself/],
])('validate refuses %j', (own, option, remedy) => {
  const problem = `claude cannot be given ${option} here`
  expect(validate(request(own), ordinaryUser)).toEqual({ problem, remedy: expect.stringMatching(remedy) })
})

test.each([[['fix it']], [['--model', 'opus', 'fix it']], [['--bare', 'fix it']], [['--', 'fix it']]])(
  'validate refuses words besides the prompt: %j',
  own => {
    expect(validate(request(own), ordinaryUser)?.problem).toBe('“fix it” would become part of every message to claude')
  },
)

test.each([
  [['--allowedTools', 'Bash', 'Edit', '--append-system-prompt', '--resume is not for you']],
  [['--add-dir', '../a', '../b', '--settings', '{"x":1}']],
  [['--some-new-option', 'with', 'words']],
  [['--permission-mode', 'plan', '--fallback-model=sonnet', '--max-turns', '3']],
])('validate leaves other arguments to the program: %j', own => {
  expect(validate(request(own), ordinaryUser)).toBeNull()
})
