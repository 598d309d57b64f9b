import { expect, test } from 'vitest'
import { testThreadId } from '../../../testkit/core/ids.ts'
import { AGENT_KINDS } from '../../api/contract/known-agents.ts'
import { makeLaunchRequest } from '../../../testkit/agents/fixtures.ts'
import { knownAgents } from './agents.ts'

const agents = knownAgents({
  demoArgv: ['node', 'demo'],
  loopArgv: ['node', 'loop'],
  demoThreads: '/threads',
  thin: '/thin.cjs',
})

test('knownAgents knows every supported agent by its kind, and no other', () => {
  expect(AGENT_KINDS.map(kind => agents(kind).kind)).toEqual(AGENT_KINDS)
  expect(() => agents('nobody')).toThrow('unknown agent nobody')
})

const order = makeLaunchRequest({ argv: ['/bin/program', '--own', 'x'], env: { HOME: '/nowhere' } })

test('a command agent starts the given argv and reads no events', () => {
  const argv = ['pytest', '-v']
  expect(agents('command').planLaunch(makeLaunchRequest({ argv, mode: 'tty' }))).toEqual({
    argv,
    env: {},
    stdin: 'none',
  })
})

test.each(AGENT_KINDS.filter(kind => kind !== 'command' && kind !== 'demo'))(
  '%s takes its prompt on stdin and gets its user’s own arguments',
  kind => {
    const plan = agents(kind).planLaunch(order)
    expect(plan.stdin).toBe('text')
    expect(plan.argv.join(' ')).toContain('--own x')
    expect(
      agents(kind)
        .planLaunch({ ...order, resume: testThreadId('the-thread') })
        .argv.join(' '),
    ).toContain('the-thread')
  },
)
