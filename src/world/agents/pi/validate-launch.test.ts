import { expect, test } from 'vitest'
import type { LaunchRequest } from '../../../ports/agent.ts'
import { makeLaunchRequest } from '../../../../testkit/agents/fixtures.ts'
import { validate } from './validate-launch.ts'

test('validate accepts options that pi has', () => {
  expect(to({})).toBeNull()
  expect(to({ autonomy: 'edits', effort: 'xhigh' })).toBeNull()
  expect(toArguments('--provider', 'openai', '-ne', '--append-system-prompt', '- be brief', '--plan', 'x')).toBeNull()
  expect(toArguments('-p', '--api-key', '-c', '--tools', 'read,bash', '--plan', '--verbose')).toBeNull()
})

test('pi cannot ask, and knows only its own efforts', () => {
  expect(to({ autonomy: 'ask' })?.problem).toBe('pi cannot ask before it uses a tool')
  expect(to({ effort: 'silly' })?.problem).toBe('pi knows no effort “silly”')
})

test.each([
  ['-c', '--continue', '-r', '--resume', '--session', '--session-id', '--fork', '--no-session', '--session-dir'],
  ['--mode', '--help', '-h', '--version', '-v', '--list-models', '--export'],
])('validate refuses options that would redirect the thread or the output: %s …', (...options) => {
  for (const option of options) {
    expect(toArguments('--verbose', option, 'x')?.problem).toBe(`${option} cannot be given to pi here`)
  }
})

test('validate refuses additional tools for an agent that may only edit', () => {
  expect(to({ autonomy: 'edits', argv: ['pi', '-t', 'bash'] })?.problem).toBe('-t cannot be given to pi here')
})

test('validate refuses words and files, which would become part of every message', () => {
  expect(toArguments('--verbose', 'fix it')?.problem).toBe('“fix it” would become part of every message to pi')
  expect(toArguments('-p', 'fix it')?.problem).toContain('fix it')
  expect(toArguments('--plan', '@notes.md')?.problem).toBe('the file @notes.md cannot be given to pi here')
  expect(toArguments('--', '-x')?.problem).toContain('--')
})

function toArguments(...own: string[]): ReturnType<typeof validate> {
  return to({ argv: ['/opt/pi', ...own] })
}

function to(changes: Partial<LaunchRequest>): ReturnType<typeof validate> {
  return validate(makeLaunchRequest(changes))
}
