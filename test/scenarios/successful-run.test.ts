import { expect, test } from 'vitest'
import { Simulation, makeSpec } from '../../testkit/in-memory/simulation.ts'

const PROMPT = { prompt: Buffer.from('do it'), env: {} }

test('an agent that ends its turn well and exits with 0 has done its work', async () => {
  const simulation = new Simulation({
    talker: {
      run: ({ stdin }) => [{ say: `thread: t-1\ntold: ${stdin}\n` }, { wait: 1_000 }, { say: 'done: all of it\n' }],
    },
  })
  const { engine } = simulation.supervisor()
  await engine.start()
  await engine.create(makeSpec({ agent: 'talker' }), PROMPT)
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.transcript('s1')).toBe(
    'thread: t-1\ntold: do it\ndone: all of it\n── done: the agent ended its turn, exit code 0\n',
  )
  expect(simulation.events('s1').map(event => event.type)).toEqual([
    'session.created',
    'attempt.launched',
    'message.delivered',
    'attempt.started',
    'thread.known',
    'message.confirmed',
    'turn.ended',
    'attempt.ended',
    'session.ended',
  ])
  expect(simulation.machine.starts).toEqual(['s1.1'])
  expect([simulation.machine.panes, simulation.machine.mailbox, simulation.troubles].map(all => [...all])).toEqual([
    [],
    [],
    [],
  ])
})
