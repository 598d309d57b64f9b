import { describe, expect, test } from 'vitest'
import { DEFAULT_CHECKPOINT_OPTIONS } from '../../src/core/checkpoint/checkpoint.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import { InjectedCrash, CrashInjector } from '../../testkit/in-memory/call-interceptors.ts'
import { InMemoryRepository } from '../../testkit/in-memory/checkpoints.ts'
import type { ScriptedProgram } from '../../testkit/in-memory/scripted-process.ts'
import { Simulation, makeSpec, type SpecOverrides } from '../../testkit/in-memory/simulation.ts'
import { startSession } from './start-session.ts'

const saving = DEFAULT_CHECKPOINT_OPTIONS

async function beginInRepository(program: ScriptedProgram, wishes: SpecOverrides = {}) {
  const repository = new InMemoryRepository()
  const given = await startSession(program, machine => void (machine.repository = repository), wishes)
  const kept = (): string[] =>
    repository.of('s1').map(({ checkpoint, tree }) => `${checkpoint.number} ${checkpoint.trigger}: ${tree}`)
  const stateIn = (number: number): string =>
    (JSON.parse(repository.of('s1')[number - 1]?.record ?? '{}') as { state: string }).state
  const isSettled = (): boolean => given.stage.hasEnded('s1') && given.stage.session('s1')?.saved.wanted === null
  return { ...given, repository, kept, stateIn, isSettled }
}

test('the checkpointer saves the files before the agent begins and after it has ended', async () => {
  const {
    stage: simulation,
    kept,
    isSettled,
  } = await beginInRepository({
    run: () => [{ wait: 100 }, { edit: 'one' }, { say: 'done: it\n' }],
  })
  await simulation.until(isSettled)
  expect(kept()).toEqual(['1 start: ', '2 end: one'])
  const types = simulation.events('s1').map(event => event.type)
  expect(types.indexOf('checkpoint.saved')).toBeLessThan(types.indexOf('attempt.started'))
  expect(simulation.session('s1')?.saved).toMatchObject({
    last: { number: 2, trigger: 'end' },
    wanted: null,
    trouble: null,
  })
})

test('the checkpointer writes no checkpoint while nothing changes, but records the end', async () => {
  const {
    stage: simulation,
    kept,
    stateIn,
    isSettled,
  } = await beginInRepository({
    run: () => [{ wait: 3_600_000 }, { say: 'done: it\n' }],
  })
  await simulation.until(() => simulation.session('s1')?.phase.name === 'running')
  await simulation.clock.advance(3_000_000)
  expect(kept()).toEqual(['1 start: '])
  await simulation.until(isSettled)
  expect(kept()).toEqual(['1 start: ', '2 end: '])
  expect([stateIn(1), stateIn(2)]).toEqual(['starting', 'done'])
})

test('a pushed record soon contains the messages that arrived since', async () => {
  const {
    stage: simulation,
    engine,
    repository,
    kept,
  } = await beginInRepository(
    { run: () => [{ wait: Infinity }] },
    { supervision: { saving: { ...saving, push: 'origin' } } },
  )
  await simulation.until(() => simulation.session('s1')?.phase.name === 'running')
  await engine.send(testSessionId('s1'), { key: 'k', summary: 'and that', text: Buffer.from('and that') })
  await simulation.until(() => repository.pushed.get('s1') === 2)
  expect(kept()).toEqual(['1 start: ', '2 news: '])
  expect(JSON.parse(repository.of('s1')[1]?.record ?? '')).toMatchObject({ goal: ['do it', 'and that'] })
})

test('the pusher pushes the first checkpoint at once, without the pause between pushes', async () => {
  const { stage: simulation, repository } = await beginInRepository(
    { run: () => [{ wait: Infinity }] },
    { supervision: { saving: { ...saving, push: 'origin' } } },
  )
  const since = simulation.clock.now()
  await simulation.until(() => repository.pushed.get('s1') === 1)
  expect(simulation.clock.now() - since).toBeLessThan(5_000)
})

test('the checkpointer saves at each interval and before a restart', async () => {
  const {
    stage: simulation,
    kept,
    isSettled,
  } = await beginInRepository(
    {
      run: ({ start }) =>
        start === 1
          ? [{ wait: 20_000 }, { edit: 'a' }, { wait: 60_000 }, { edit: 'b' }, { wait: 1_000 }, { die: 'SIGKILL' }]
          : [{ wait: 1_000 }, { edit: 'c' }, { say: 'done: it\n' }],
    },
    { supervision: { saving: { ...saving, interval: 60_000 } } },
  )
  await simulation.until(isSettled)
  expect(kept()).toEqual(['1 start: ', '2 interval: a', '3 restart: b', '4 end: c'])
})

describe('a checkpoint that takes longer than its interval', () => {
  const HOUR = 3_600_000

  /** Runs an agent that edits a file in each minute of two hours, while each save takes this long. */
  async function runWithSlowSaves(duration: number) {
    const minutes = Array.from({ length: 120 }, (_, minute) => [{ wait: 60_000 }, { edit: `${minute}` }] as const)
    const { stage, repository } = await beginInRepository(
      { run: () => [...minutes.flat(), { wait: Infinity }] },
      { supervision: { saving: { ...saving, interval: 60_000 } } },
    )
    await stage.until(() => stage.session('s1')?.phase.name === 'running')
    const saves = { running: 0, atOnce: 0, count: 0 }
    repository.duringSave = async () => {
      saves.count++
      saves.atOnce = Math.max(saves.atOnce, ++saves.running)
      await new Promise<void>(resolve => stage.clock.schedule(stage.clock.now() + duration, resolve))
      saves.running--
    }
    for (let minute = 0; minute < 121; minute++) await stage.clock.advance(60_000)
    return { saves, stage, repository }
  }

  test('runs alone, is followed by a pause of twenty times its duration, and does not delay the agent', async () => {
    const { saves, repository } = await runWithSlowSaves(90_000)
    expect(repository.tree).toBe('119')
    expect(saves.atOnce).toBe(1)
    const pause = 20 * 90_000
    expect(saves.count).toBeGreaterThanOrEqual(3)
    expect(saves.count).toBeLessThanOrEqual(2 + 2 * Math.ceil((2 * HOUR) / pause))
  })

  test('and that takes more than two minutes is given up, with the same pause before the next try', async () => {
    const { saves, stage, repository } = await runWithSlowSaves(300_000)
    expect(repository.tree).toBe('119')
    const pause = 20 * 120_000
    expect(saves.count).toBeGreaterThanOrEqual(3)
    expect(saves.count).toBeLessThanOrEqual(2 + 2 * Math.ceil((2 * HOUR) / pause))
    expect(stage.session('s1')?.saved.trouble).not.toBeNull()
  })
})

test('the checkpointer saves edits of an agent soon after, several at once', async () => {
  const edit = (tree: string) => [{ edit: tree }, { say: `edited: ${tree}\n` }] as const
  const {
    stage: simulation,
    kept,
    isSettled,
  } = await beginInRepository({
    run: () => [
      { wait: 10_000 },
      ...edit('a'),
      { wait: 1_000 },
      ...edit('ab'),
      { wait: 20_000 },
      ...edit('abc'),
      { wait: 20_000 },
      { say: 'done: it\n' },
    ],
  })
  await simulation.until(isSettled)
  expect(kept()).toEqual(['1 start: ', '2 edit: ab', '3 edit: abc', '4 end: abc'])
})

test('the checkpointer saves at a stop and at a failure', async () => {
  const stopped = await beginInRepository({ run: () => [{ edit: 'half' }, { wait: Infinity }] })
  await stopped.stage.until(() => stopped.stage.session('s1')?.phase.name === 'running')
  await stopped.engine.stop(testSessionId('s1'))
  await stopped.stage.until(stopped.isSettled)
  expect(stopped.kept()).toEqual(['1 start: ', '2 stop: half'])
  const failed = await beginInRepository({ run: () => [{ edit: 'bad' }, { exit: 3 }] }, { agent: 'mute' })
  await failed.stage.until(failed.isSettled)
  expect(failed.kept()).toEqual(['1 start: ', '2 error: bad'])
})

test('the checkpointer saves nothing if checkpoints are off', async () => {
  const { stage: simulation, kept } = await beginInRepository(
    { run: () => [{ edit: 'a' }, { say: 'done: it\n' }] },
    { supervision: { saving: { ...saving, mode: 'off' } } },
  )
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(kept()).toEqual([])
})

test('the checkpointer reports trouble once, does not stop the work, and saves when the trouble is over', async () => {
  const {
    stage: simulation,
    repository,
    kept,
    isSettled,
  } = await beginInRepository({
    run: () => [{ edit: 'a' }, { wait: 1_000 }, { say: 'done: it\n' }],
  })
  repository.trouble = 'the disk is full'
  await simulation.until(() => simulation.hasEnded('s1'))
  await simulation.clock.advance(200_000)
  expect(simulation.events('s1').filter(event => event.type === 'checkpoint.failed')).toHaveLength(1)
  expect(simulation.session('s1')?.saved).toMatchObject({ trouble: 'the disk is full', wanted: { trigger: 'end' } })
  repository.trouble = null
  await simulation.until(isSettled)
  expect(kept().at(-1)).toBe('2 end: a')
})

test('the checkpointer saves the end even if a requested checkpoint fails at the same time', async () => {
  const {
    stage: simulation,
    engine,
    repository,
    kept,
    isSettled,
  } = await beginInRepository({
    run: () => [{ wait: 1_000 }, { edit: 'a' }, { say: 'done: it\n' }],
  })
  await simulation.until(() => simulation.session('s1')?.phase.name === 'running')
  repository.trouble = 'the disk is full'
  const asked = engine.services.saveNow(testSessionId('s1'))
  await expect(asked).rejects.toThrow('the disk is full')
  await simulation.until(() => simulation.hasEnded('s1'))
  await expect(engine.services.saveNow(testSessionId('s1'))).rejects.toThrow('the disk is full')
  repository.trouble = null
  await simulation.until(isSettled)
  expect(kept().at(-1)).toBe('2 end: a')
})

test('the pusher tries until the remote has the checkpoint, and reports trouble once', async () => {
  const { stage: simulation, repository } = await beginInRepository(
    { run: () => [{ wait: 1_000 }, { edit: 'a' }, { wait: 600_000 }, { edit: 'b' }, { say: 'done: it\n' }] },
    { supervision: { saving: { ...saving, push: 'origin' } } },
  )
  repository.pushTrouble = 'no route to host'
  await simulation.until(() => simulation.session('s1')?.saved.pushTrouble === 'no route to host')
  await simulation.clock.advance(120_000)
  repository.pushTrouble = null
  await simulation.until(
    () =>
      simulation.session('s1')?.saved.pushed?.number === simulation.session('s1')?.saved.last?.number &&
      simulation.hasEnded('s1'),
  )
  expect(repository.pushed.get('s1')).toBe(repository.of('s1').length)
  const types = simulation.events('s1').map(event => event.type)
  expect(types.filter(type => type === 'checkpoint.unpushed')).toHaveLength(1)
  expect(types.filter(type => type === 'checkpoint.pushed')).toHaveLength(1)
})

describe('a supervisor that loses its power at any moment', () => {
  const program: ScriptedProgram = {
    run: ({ start }) =>
      start === 1
        ? [{ wait: 500 }, { edit: 'a' }, { wait: 100 }, { die: 'SIGKILL' }]
        : [{ wait: 500 }, { edit: 'b' }, { say: 'done: it\n' }],
  }

  async function live(
    moments: readonly number[],
  ): Promise<{ calls: number; stage: Simulation; kept: ReturnType<InMemoryRepository['of']>; id: string }> {
    const simulation = new Simulation({ talker: program })
    const repository = new InMemoryRepository()
    simulation.machine.repository = repository
    let calls = 0
    let id = ''
    let asked = 0
    for (const power of [...moments.map(moment => new CrashInjector(moment)), new CrashInjector()]) {
      const { engine } = simulation.supervisor(power)
      try {
        await engine.start()
        if (simulation.session(id) === undefined) {
          id = `s${++asked}`
          await engine.create(makeSpec({ agent: 'talker', id }), { prompt: Buffer.from('do it'), env: {} })
        }
        const isOver = (): boolean => simulation.hasEnded(id) && simulation.session(id)?.saved.wanted === null
        await simulation.until(() => power.hasFailed || isOver())
      } catch (cause) {
        if (!(cause instanceof InjectedCrash)) throw cause
      }
      calls = power.calls.length
      if (!power.hasFailed) break
      simulation.machine.listeners.clear()
    }
    return { calls, stage: simulation, kept: repository.of(id), id }
  }

  test('has a successor that saves everything in the end', async () => {
    const { calls } = await live([])
    expect(calls).toBeGreaterThan(20)
    for (let moment = 1; moment <= calls * 2; moment++) {
      const { stage: simulation, kept, id } = await live([moment])
      expect(kept[0]?.tree, `moment ${moment}`).toBe('')
      expect(kept.at(-1)?.tree, `moment ${moment}`).toBe('b')
      expect(kept.map(({ checkpoint }) => checkpoint.number)).toEqual(kept.map((_, index) => index + 1))
      expect(simulation.session(id)?.saved.last?.number, `moment ${moment}`).toBe(kept.length)
      expect(simulation.troubles).toEqual([])
    }
  })
})
