import { describe, expect, test } from 'vitest'
import { DEFAULT_SAVING } from '../../src/core/checkpoint.ts'
import type { Spec } from '../../src/core/session.ts'
import { Crash, Power } from '../../src/testkit/memory/power.ts'
import { MemoryRepository } from '../../src/testkit/memory/memory-checkpoints.ts'
import type { Program } from '../../src/testkit/memory/scripted-process.ts'
import { Stage, specOf } from '../../src/testkit/memory/stage.ts'
import { begin } from './begin.ts'

const saving = DEFAULT_SAVING

async function beginInRepository(program: Program, wishes: Partial<Spec> = {}) {
  const repository = new MemoryRepository()
  const given = await begin(program, machine => void (machine.repository = repository), wishes)
  const kept = (): string[] =>
    repository.of('s1').map(({ checkpoint, tree }) => `${checkpoint.number} ${checkpoint.trigger}: ${tree}`)
  const stateIn = (number: number): string =>
    (JSON.parse(repository.of('s1')[number - 1]?.record ?? '{}') as { state: string }).state
  const isSettled = (): boolean => given.stage.hasEnded('s1') && given.stage.session('s1')?.saved.wanted === null
  return { ...given, repository, kept, stateIn, isSettled }
}

test('what is there before the agent begins is saved, and what is there when it has ended', async () => {
  const { stage, kept, isSettled } = await beginInRepository({
    run: () => [{ wait: 100 }, { edit: 'one' }, { say: 'done: it\n' }],
  })
  await stage.until(isSettled)
  expect(kept()).toEqual(['1 start: ', '2 end: one'])
  const types = stage.events('s1').map(event => event.type)
  expect(types.indexOf('checkpoint.saved')).toBeLessThan(types.indexOf('attempt.started'))
  expect(stage.session('s1')?.saved).toMatchObject({ last: { number: 2, trigger: 'end' }, wanted: null, trouble: null })
})

test('while nothing changes nothing is written, but how it ended is', async () => {
  const { stage, kept, stateIn, isSettled } = await beginInRepository({
    run: () => [{ wait: 3_600_000 }, { say: 'done: it\n' }],
  })
  await stage.until(() => stage.session('s1')?.phase.name === 'running')
  await stage.clock.pass(3_000_000)
  expect(kept()).toEqual(['1 start: '])
  await stage.until(isSettled)
  expect(kept()).toEqual(['1 start: ', '2 end: '])
  expect([stateIn(1), stateIn(2)]).toEqual(['starting', 'done'])
})

test('what is pushed tells soon what it was asked for since', async () => {
  const { stage, engine, repository, kept } = await beginInRepository(
    { run: () => [{ wait: Infinity }] },
    { saving: { ...saving, push: 'origin' } },
  )
  await stage.until(() => stage.session('s1')?.phase.name === 'running')
  await engine.send('s1', { key: 'k', gist: 'and that', text: Buffer.from('and that') })
  await stage.until(() => repository.pushed.get('s1') === 2)
  expect(kept()).toEqual(['1 start: ', '2 news: '])
  expect(JSON.parse(repository.of('s1')[1]?.record ?? '')).toMatchObject({ goal: ['do it', 'and that'] })
})

test('the first checkpoint is pushed at once, without the pause between pushes', async () => {
  const { stage, repository } = await beginInRepository(
    { run: () => [{ wait: Infinity }] },
    { saving: { ...saving, push: 'origin' } },
  )
  const since = stage.clock.now()
  await stage.until(() => repository.pushed.get('s1') === 1)
  expect(stage.clock.now() - since).toBeLessThan(5_000)
})

test('it is saved every so often, and before a restart', async () => {
  const { stage, kept, isSettled } = await beginInRepository(
    {
      run: ({ start }) =>
        start === 1
          ? [{ wait: 20_000 }, { edit: 'a' }, { wait: 60_000 }, { edit: 'b' }, { wait: 1_000 }, { die: 'SIGKILL' }]
          : [{ wait: 1_000 }, { edit: 'c' }, { say: 'done: it\n' }],
    },
    { saving: { ...saving, interval: 60_000 } },
  )
  await stage.until(isSettled)
  expect(kept()).toEqual(['1 start: ', '2 interval: a', '3 restart: b', '4 end: c'])
})

test('what an agent edits is saved soon after, several edits at once', async () => {
  const edit = (tree: string) => [{ edit: tree }, { say: `edited: ${tree}\n` }] as const
  const { stage, kept, isSettled } = await beginInRepository({
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
  await stage.until(isSettled)
  expect(kept()).toEqual(['1 start: ', '2 edit: ab', '3 edit: abc', '4 end: abc'])
})

test('a stop saves, and so does a failure', async () => {
  const stopped = await beginInRepository({ run: () => [{ edit: 'half' }, { wait: Infinity }] })
  await stopped.stage.until(() => stopped.stage.session('s1')?.phase.name === 'running')
  await stopped.engine.stop('s1')
  await stopped.stage.until(stopped.isSettled)
  expect(stopped.kept()).toEqual(['1 start: ', '2 stop: half'])
  const failed = await beginInRepository({ run: () => [{ edit: 'bad' }, { exit: 3 }] }, { agent: 'mute' })
  await failed.stage.until(failed.isSettled)
  expect(failed.kept()).toEqual(['1 start: ', '2 error: bad'])
})

test('with checkpoints off nothing is saved', async () => {
  const { stage, kept } = await beginInRepository(
    { run: () => [{ edit: 'a' }, { say: 'done: it\n' }] },
    { saving: { ...saving, mode: 'off' } },
  )
  await stage.until(() => stage.hasEnded('s1'))
  expect(kept()).toEqual([])
})

test('trouble is told once, does not stop the work, and what was wanted is saved when it is over', async () => {
  const { stage, repository, kept, isSettled } = await beginInRepository({
    run: () => [{ edit: 'a' }, { wait: 1_000 }, { say: 'done: it\n' }],
  })
  repository.trouble = 'the disk is full'
  await stage.until(() => stage.hasEnded('s1'))
  await stage.clock.pass(200_000)
  expect(stage.events('s1').filter(event => event.type === 'checkpoint.failed')).toHaveLength(1)
  expect(stage.session('s1')?.saved).toMatchObject({ trouble: 'the disk is full', wanted: { trigger: 'end' } })
  repository.trouble = null
  await stage.until(isSettled)
  expect(kept().at(-1)).toBe('2 end: a')
})

test('an end that falls together with a wish that fails is saved all the same', async () => {
  const { stage, engine, repository, kept, isSettled } = await beginInRepository({
    run: () => [{ wait: 1_000 }, { edit: 'a' }, { say: 'done: it\n' }],
  })
  await stage.until(() => stage.session('s1')?.phase.name === 'running')
  repository.trouble = 'the disk is full'
  const asked = engine.keepers.saveNow('s1')
  await expect(asked).rejects.toThrow('the disk is full')
  await stage.until(() => stage.hasEnded('s1'))
  await expect(engine.keepers.saveNow('s1')).rejects.toThrow('the disk is full')
  repository.trouble = null
  await stage.until(isSettled)
  expect(kept().at(-1)).toBe('2 end: a')
})

test('what is pushed is pushed until it is there, and trouble with it is told once', async () => {
  const { stage, repository } = await beginInRepository(
    { run: () => [{ wait: 1_000 }, { edit: 'a' }, { wait: 600_000 }, { edit: 'b' }, { say: 'done: it\n' }] },
    { saving: { ...saving, push: 'origin' } },
  )
  repository.pushTrouble = 'no route to host'
  await stage.until(() => stage.session('s1')?.saved.pushTrouble === 'no route to host')
  await stage.clock.pass(120_000)
  repository.pushTrouble = null
  await stage.until(
    () => stage.session('s1')?.saved.pushed?.number === stage.session('s1')?.saved.last?.number && stage.hasEnded('s1'),
  )
  expect(repository.pushed.get('s1')).toBe(repository.of('s1').length)
  const types = stage.events('s1').map(event => event.type)
  expect(types.filter(type => type === 'checkpoint.unpushed')).toHaveLength(1)
  expect(types.filter(type => type === 'checkpoint.pushed')).toHaveLength(1)
})

describe('a supervisor that loses its power', () => {
  const program: Program = {
    run: ({ start }) =>
      start === 1
        ? [{ wait: 500 }, { edit: 'a' }, { wait: 100 }, { die: 'SIGKILL' }]
        : [{ wait: 500 }, { edit: 'b' }, { say: 'done: it\n' }],
  }

  async function live(
    moments: readonly number[],
  ): Promise<{ calls: number; stage: Stage; kept: ReturnType<MemoryRepository['of']>; id: string }> {
    const stage = new Stage({ talker: program })
    const repository = new MemoryRepository()
    stage.machine.repository = repository
    let calls = 0
    let id = ''
    let asked = 0
    for (const power of [...moments.map(moment => new Power(moment)), new Power()]) {
      const { engine } = stage.supervisor(power)
      try {
        await engine.start()
        if (stage.session(id) === undefined) {
          id = `s${++asked}`
          await engine.create(specOf({ agent: 'talker', id }), { prompt: Buffer.from('do it'), env: {} })
        }
        const isOver = (): boolean => stage.hasEnded(id) && stage.session(id)?.saved.wanted === null
        await stage.until(() => power.hasFailed || isOver())
      } catch (cause) {
        if (!(cause instanceof Crash)) throw cause
      }
      calls = power.calls.length
      if (!power.hasFailed) break
      stage.machine.ears.clear()
    }
    return { calls, stage, kept: repository.of(id), id }
  }

  test('at any moment is followed by one that has everything saved in the end', async () => {
    const { calls } = await live([])
    expect(calls).toBeGreaterThan(20)
    for (let moment = 1; moment <= calls * 2; moment++) {
      const { stage, kept, id } = await live([moment])
      expect(kept[0]?.tree, `moment ${moment}`).toBe('')
      expect(kept.at(-1)?.tree, `moment ${moment}`).toBe('b')
      expect(kept.map(({ checkpoint }) => checkpoint.number)).toEqual(kept.map((_, index) => index + 1))
      expect(stage.session(id)?.saved.last?.number, `moment ${moment}`).toBe(kept.length)
      expect(stage.troubles).toEqual([])
    }
  })
})
