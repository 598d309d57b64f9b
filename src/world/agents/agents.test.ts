import { expect, test } from 'vitest'
import { AGENT_KINDS } from '../../api/contract/agent-kinds.ts'
import { knownAgents } from './agents.ts'

const agents = knownAgents({ demoArgv: ['node', 'demo'], demoThreads: '/threads' })

test('every agent that may be asked for is known by its kind, and no other', () => {
  expect(AGENT_KINDS.map(kind => agents(kind).kind)).toEqual(AGENT_KINDS)
  expect(() => agents('nobody')).toThrow('unknown agent nobody')
})

test('a command is started with its own words and reads nothing', () => {
  expect(agents('command').plan({ argv: ['pytest', '-v'], resume: null, mode: 'tty' })).toEqual({
    argv: ['pytest', '-v'],
    env: {},
    stdin: 'none',
  })
})

test('agents take their prompt on stdin and work without questions', () => {
  const argv = (kind: string): readonly string[] => {
    const plan = agents(kind).plan({ argv: [`/bin/${kind}`, '--model', 'x'], resume: null, mode: 'headless' })
    expect(plan.stdin).toBe('prompt')
    return plan.argv
  }
  expect(argv('claude')).toEqual(['/bin/claude', '-p', '--dangerously-skip-permissions', '--model', 'x'])
  expect(argv('codex')).toEqual([
    '/bin/codex',
    'exec',
    '--dangerously-bypass-approvals-and-sandbox',
    '--skip-git-repo-check',
    '--model',
    'x',
    '-',
  ])
})
