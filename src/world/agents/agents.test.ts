import { expect, test } from 'vitest'
import { AGENT_KINDS } from '../../api/contract/agent-kinds.ts'
import type { LaunchRequest } from '../../ports/agent.ts'
import { knownAgents } from './agents.ts'

const agents = knownAgents({ demoArgv: ['node', 'demo'], demoThreads: '/threads', thin: '/thin.cjs' })

test('every agent that may be asked for is known by its kind, and no other', () => {
  expect(AGENT_KINDS.map(kind => agents(kind).kind)).toEqual(AGENT_KINDS)
  expect(() => agents('nobody')).toThrow('unknown agent nobody')
})

const ORDER: LaunchRequest = {
  argv: ['/bin/program', '--own', 'x'],
  mode: 'headless',
  cwd: '/',
  env: { HOME: '/nowhere' },
  resume: null,
  tag: '00000000-0000-8000-8000-000000000000',
  isContinuation: false,
  autonomy: 'full',
  model: null,
  effort: null,
  budget: { usd: null, turns: null },
}

test('a command is started with its own words and reads nothing', () => {
  const argv = ['pytest', '-v']
  expect(agents('command').plan({ ...ORDER, argv, mode: 'tty' })).toEqual({ argv, env: {}, stdin: 'none' })
})

test.each(AGENT_KINDS.filter(kind => kind !== 'command' && kind !== 'demo'))(
  '%s takes its prompt on stdin and gets its user’s own arguments',
  kind => {
    const plan = agents(kind).plan(ORDER)
    expect(plan.stdin).toBe('text')
    expect(plan.argv.join(' ')).toContain('--own x')
    expect(
      agents(kind)
        .plan({ ...ORDER, resume: 'the-thread' })
        .argv.join(' '),
    ).toContain('the-thread')
  },
)
