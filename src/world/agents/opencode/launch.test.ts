import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { testThreadId } from '../../../../testkit/core/ids.ts'
import type { LaunchRequest } from '../../../ports/agent.ts'
import { makeLaunchRequest } from '../../../../testkit/agents/fixtures.ts'
import { put, tempFolder } from '../../../../testkit/agents/temp-folder.ts'
import { findBinary } from './opencode.ts'
import { validate } from './validate-launch.ts'
import { planLaunch } from './opencode.ts'

test('a thread begins with our tag as its title, in the folder of the session', () => {
  expect(planLaunch(request())).toEqual({
    argv: ['/opt/opencode', 'run', '--format', 'json', '--auto', '--title', 'our-tag'],
    env: { PWD: '/home/dev/project' },
    stdin: 'text',
  })
})

test('a thread resumes by its id', () => {
  const launchRequest = request({
    argv: ['/opt/opencode', '--agent', 'plan'],
    resume: testThreadId('ses_1'),
    model: 'a/b',
    effort: 'high',
  })
  expect(planLaunch(launchRequest).argv.slice(2).join(' ')).toBe(
    '--format json --auto --session ses_1 --model a/b --variant high --agent plan',
  )
})

test('less autonomy: opencode must ask outside of its folder; then for every edit and command', () => {
  expect(planLaunch(request({ autonomy: 'edits' })).argv).not.toContain('--auto')
  expect(planLaunch(request({ autonomy: 'edits' })).env).toEqual({ PWD: '/home/dev/project' })
  const own = { OPENCODE_PERMISSION: '{"webfetch":"deny","bash":"allow"}' }
  expect(planLaunch(request({ autonomy: 'ask' })).argv).not.toContain('--auto')
  expect(planLaunch(request({ autonomy: 'ask', env: own })).env['OPENCODE_PERMISSION']).toBe(
    '{"webfetch":"deny","bash":"ask","edit":"ask"}',
  )
  expect(planLaunch(request({ autonomy: 'ask', env: { OPENCODE_PERMISSION: 'odd' } })).env['OPENCODE_PERMISSION']).toBe(
    '{"edit":"ask","bash":"ask"}',
  )
})

test('findBinary returns the program itself, not a script around it', () => {
  const root = tempFolder()
  const script = put(path.join(root, 'node_modules/opencode-ai/bin/opencode'), '#!/usr/bin/env node\n')
  const quick = put(path.join(root, 'node_modules/opencode-linux-x64/bin/opencode'))
  const plain = put(path.join(root, 'node_modules/opencode-linux-x64-baseline/bin/opencode'))
  for (const name of ['opencode-linux-x64', 'opencode-linux-x64-baseline'])
    put(path.join(root, `node_modules/${name}/package.json`), '{}')
  fs.symlinkSync(script, path.join(root, 'opencode'))
  const machine = { platform: 'linux', arch: 'x64', hasAvx2: true, hasMusl: false }
  expect(findBinary(path.join(root, 'opencode'), machine)).toBe(quick)
  expect(findBinary(script, { ...machine, hasAvx2: false })).toBe(plain)
  expect(findBinary(script, { ...machine, arch: 'arm64' })).toBe(script)
  expect(findBinary(script, { ...machine, hasMusl: true })).toBe(script)
})

test('findBinary returns a program that is not a script unchanged', () => {
  const program = put(path.join(tempFolder(), 'node_modules/opencode-ai/bin/opencode.exe'), '\u007fELF')
  expect(findBinary(program)).toBe(program)
  expect(findBinary('/nowhere/opencode')).toBe('/nowhere/opencode')
})

test('validate refuses arguments that conflict with ours', () => {
  const problem = (...own: string[]): string | undefined =>
    validate(request({ argv: ['/opt/opencode', ...own] }))?.problem
  expect(problem()).toBeUndefined()
  expect(problem('--agent', 'plan', '-f', 'a.txt', 'b.txt', '--thinking', '--model=a/b')).toBeUndefined()
  expect(problem('--continue')).toBe('opencode cannot be given --continue here')
  expect(problem('-s', 'ses_1')).toBe('opencode cannot be given -s here')
  expect(problem('--format=default')).toBe('opencode cannot be given --format here')
  expect(problem('--attach', 'http://localhost:4096')).toBe('opencode cannot be given --attach here')
  expect(problem('--auto')).toBe('opencode cannot be given --auto here')
  expect(problem('fix it')).toBe('opencode cannot be given fix it besides its prompt')
})

test('validate refuses a second model or effort', () => {
  const argv = ['/opt/opencode', '--model', 'a/b', '--variant', 'high']
  expect(validate(request({ argv }))).toBeNull()
  expect(validate(request({ argv, model: 'c/d' }))?.remedy).toBe(
    'leave it out; the session already names the model c/d',
  )
  expect(validate(request({ argv, effort: 'low' }))?.remedy).toBe(
    'leave it out; the session already asks for the effort low',
  )
})

function request(changes: Partial<LaunchRequest> = {}): LaunchRequest {
  return makeLaunchRequest({ argv: ['/opt/opencode'], ...changes })
}
