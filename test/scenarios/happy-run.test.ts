import { expect, test } from 'vitest'
import { Stage, specOf } from '../../src/testkit/memory/stage.ts'

const PROMPT = { prompt: Buffer.from('do it'), env: {} }

test('an agent that ends its turn well and exits with 0 has done its work', async () => {
  const stage = new Stage({
    talker: {
      run: ({ stdin }) => [{ say: `thread: t-1\ntold: ${stdin}\n` }, { wait: 1_000 }, { say: 'done: all of it\n' }],
    },
  })
  const { engine } = stage.supervisor()
  await engine.start()
  await engine.create(specOf({ agent: 'talker' }), PROMPT)
  await stage.until(() => stage.hasEnded('s1'))
  expect(stage.transcript('s1')).toBe(
    'thread: t-1\ntold: do it\ndone: all of it\n── done: the agent ended its turn, exit code 0\n',
  )
  expect(stage.events('s1').map(event => event.type)).toEqual([
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
  expect(stage.machine.starts).toEqual(['s1.1'])
  expect([stage.machine.panes, stage.machine.letters, stage.troubles].map(all => [...all])).toEqual([[], [], []])
})
