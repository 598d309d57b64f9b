import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { testThreadId } from '../../../../testkit/core/ids.ts'
import type { LaunchRequest } from '../../../ports/agent.ts'
import { makeLaunchRequest } from '../../../../testkit/agents/fixtures.ts'
import { put, tempFolder } from '../../../../testkit/agents/temp-folder.ts'
import { findBinary } from './codex.ts'
import { validate } from './validate-launch.ts'
import { planLaunch } from './codex.ts'

test('planLaunch makes codex work without questions and read the prompt on stdin', () => {
  expect(planLaunch(request())).toEqual({
    argv: ['/opt/codex', 'exec', '--json', '--dangerously-bypass-approvals-and-sandbox', '--skip-git-repo-check', '-'],
    env: {},
    stdin: 'text',
  })
})

test('`resume` follows all options, and the arguments of the caller come first', () => {
  const launchRequest = request({
    argv: ['/opt/codex', '-i', 'a.png'],
    resume: testThreadId('id'),
    model: 'gpt-5.5',
    effort: 'high',
  })
  expect(planLaunch(launchRequest).argv.slice(2).join(' ')).toBe(
    '-i a.png --json --dangerously-bypass-approvals-and-sandbox --skip-git-repo-check ' +
      '-m gpt-5.5 -c model_reasoning_effort="high" resume id -',
  )
})

test('less autonomy means a narrower sandbox', () => {
  expect(planLaunch(request({ autonomy: 'edits' })).argv).toContain('workspace-write')
  expect(planLaunch(request({ autonomy: 'ask' })).argv).toContain('read-only')
})

test.each([
  ['hoisted', 'node_modules/@openai/codex-linux-x64'],
  ['nested', 'node_modules/@openai/codex/node_modules/@openai/codex-linux-x64'],
  ['in the package itself', 'node_modules/@openai/codex'],
])('findBinary returns the program itself, not its wrapper: %s', (_, home) => {
  const root = tempFolder()
  const wrapper = put(path.join(root, 'node_modules/@openai/codex/bin/codex.js'))
  put(path.join(root, 'node_modules/@openai/codex/package.json'), '{}')
  put(path.join(root, `${home}/package.json`), '{}')
  const binary = put(path.join(root, `${home}/vendor/x86_64-unknown-linux-musl/bin/codex`))
  fs.mkdirSync(path.join(root, 'bin'))
  fs.symlinkSync(wrapper, path.join(root, 'bin/codex'))
  expect(findBinary(path.join(root, 'bin/codex'), 'linux-x64')).toEqual({
    program: binary,
    env: { CODEX_MANAGED_PACKAGE_ROOT: path.join(root, 'node_modules/@openai/codex'), CODEX_MANAGED_BY_NPM: '1' },
  })
})

test('findBinary returns a program unchanged when it is no wrapper or its binary is missing', () => {
  const root = tempFolder()
  const wrapper = put(path.join(root, 'node_modules/@openai/codex/bin/codex.js'))
  expect(findBinary(wrapper, 'linux-x64')).toEqual({ program: wrapper, env: {} })
  expect(findBinary(wrapper, 'aix-ppc64')).toEqual({ program: wrapper, env: {} })
  expect(findBinary('/nowhere/codex')).toEqual({ program: '/nowhere/codex', env: {} })
})

test('validate refuses arguments that conflict with ours', () => {
  const problem = (...own: string[]): string | undefined => validate(request({ argv: ['/opt/codex', ...own] }))?.problem
  expect(problem()).toBeUndefined()
  expect(problem('-p', 'review', '-c', 'a=1', '-c', 'b=2', '--color=never', '-i', 'a.png', 'b.png')).toBeUndefined()
  expect(problem('-o', 'last.txt', '--search')).toBeUndefined()
  expect(problem('--full-auto')).toBe('codex cannot be given --full-auto here')
  expect(problem('--sandbox=read-only')).toBe('codex cannot be given --sandbox here')
  expect(problem('-sread-only')).toBe('codex cannot be given -s here')
  expect(problem('--json')).toBe('codex cannot be given --json here')
  expect(problem('-C', '/tmp')).toBe('codex cannot be given -C here')
  expect(problem('--ephemeral')).toBe('codex cannot be given --ephemeral here')
  expect(problem('resume', '--last')).toBe('codex cannot be given --last here')
  expect(problem('-m', 'gpt-5.5', 'resume', 'id')).toBe('codex cannot be started with its command resume here')
  expect(problem('fix it')).toBe('codex cannot be given fix it besides its prompt')
  expect(problem('--'), 'before our own options').toBe('codex cannot be given -- besides its prompt')
})

test('validate refuses a second model', () => {
  const argv = ['/opt/codex', '-m', 'gpt-5.5']
  expect(validate(request({ argv }))).toBeNull()
  expect(validate(request({ argv, model: 'gpt-6-sol' }))).toEqual({
    problem: 'codex cannot be given -m here',
    remedy: 'leave it out; the session already names the model gpt-6-sol',
  })
})

function request(changes: Partial<LaunchRequest> = {}): LaunchRequest {
  return makeLaunchRequest({ argv: ['/opt/codex'], ...changes })
}
