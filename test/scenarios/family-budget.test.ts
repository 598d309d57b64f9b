import { expect, test } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import type { ScriptedProgram } from '../../testkit/in-memory/scripted-process.ts'
import { makeSpec, type Simulation } from '../../testkit/in-memory/simulation.ts'
import { startSession } from './start-session.ts'

const budget = (usd: number) => ({ usd, tokens: null, turns: null })
const CALLS = Array.from({ length: 20 }, (_, n) => [{ say: `tool: ${n}\n` }, { wait: 60_000 }]).flat()

/** A parent that has spent $2 of $5 and calls a tool every minute, and a child that spends $2 of $3 in its first minute. */
const family = (childEnds: boolean): ScriptedProgram => ({
  run: ({ stdin }) =>
    stdin.includes('a part')
      ? [
          { say: 'thread: c\n' },
          { wait: 90_000 },
          { say: 'spent: 2\n' },
          ...(childEnds ? [{ say: 'done: it\n' }] : [{ wait: Infinity }]),
        ]
      : [{ say: 'thread: t\nspent: 2\n' }, ...CALLS, { say: 'done: all\n' }],
})

async function start(program: ScriptedProgram, childUsd: number): Promise<{ stage: Simulation; engine: Engine }> {
  const { stage, engine } = await startSession(program, undefined, { supervision: { limits: budget(5) } })
  await stage.until(() => stage.session('s1')?.spending.attempt.usd === 2)
  const child = makeSpec({
    agent: 'talker',
    id: 's2',
    name: 'talker-child',
    startedBy: 's1',
    supervision: { limits: budget(childUsd) },
  })
  await engine.create(child, { prompt: Buffer.from('do a part'), env: {} })
  return { stage, engine }
}

test('a parent continues while its child spends a part of its budget', async () => {
  const { stage } = await start(family(true), 2.5)
  await stage.until(() => stage.hasEnded('s1') && stage.hasEnded('s2'))
  expect(stage.session('s1')).toMatchObject({
    phase: { outcome: 'done' },
    spending: { children: { spent: { usd: 2 }, reserved: { usd: null } } },
  })
})

test('the supervisor stops a parent when its own spending and the budget reserved for its child reach its limit', async () => {
  const { stage } = await start(family(false), 3)
  await stage.until(() => stage.hasEnded('s1'))
  expect(stage.session('s1')?.phase).toMatchObject({
    outcome: 'stopped',
    reason: expect.stringContaining(
      'the budget of $5 was reached: $5.00 were spent, with those of the sessions it started and the budgets reserved for them',
    ),
  })
  expect(stage.session('s2')?.phase.name).toBe('running')
})

test('the next supervisor counts the spending of a child that its predecessor could not count', async () => {
  const { stage, engine: first } = await start(family(false), 2.5)
  await stage.until(() => (stage.session('s2')?.spending.attempt.usd ?? 0) === 2)
  await first.shutDown()
  const record = JSON.parse(stage.disk.sessions.get('s1') ?? '') as { spending: object }
  stage.disk.sessions.set('s1', JSON.stringify({ ...record, spending: { ...record.spending, children: undefined } }))
  const { engine } = stage.supervisor()
  await engine.start()
  await stage.until(() => stage.session('s1')?.spending.children !== undefined)
  expect(stage.session('s1')?.spending.children).toMatchObject({ spent: { usd: 2 }, reserved: { usd: 0.5 } })
})

test('a woken parent gets its whole budget again, beside the budgets of live children', async () => {
  const { stage, engine } = await start(family(false), 3)
  await stage.until(() => stage.hasEnded('s1'))
  await stage.until(() => (stage.session('s1')?.spending.children?.spent.usd ?? 0) === 2)
  await engine.send(testSessionId('s1'), { key: 'a', summary: 'more', text: Buffer.from('more') })
  expect(stage.session('s1')?.spending).toMatchObject({
    waived: { usd: 4 },
    children: { reserved: { usd: 1 } },
  })
})
