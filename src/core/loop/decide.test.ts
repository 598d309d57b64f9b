import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { aLoopSpec } from '../../testkit/core/loops.ts'
import { type Fate, live, LoopWorld, type Temper } from '../../testkit/core/loop-world.ts'
import type { Item } from './item.ts'
import type { Loop } from './loop.ts'
import type { LoopSpec } from './spec.ts'

const SPEC = aLoopSpec({ stagger: 2_000 })

function items(count: number, after: (n: number) => readonly string[] = () => []): Omit<Item, 'isDone'>[] {
  return Array.from({ length: count }, (_, at) => ({
    key: `k${at + 1}`,
    label: `${at + 1}`,
    title: `task ${at + 1}`,
    path: [],
    body: '',
    after: after(at + 1),
  }))
}

function play(spec: Partial<LoopSpec>, tempers: readonly Temper[], count = 1): { loop: Loop; world: LoopWorld } {
  const temper = (iteration: number): Temper => tempers[iteration - 1] ?? 'good'
  const world = new LoopWorld({ spec: { ...SPEC, ...spec }, items: items(count), temper, clashes: () => false })
  const { loop } = live(
    world,
    () => 0,
    () => 'heard',
  )
  return { loop, world }
}

const stands = (loop: Loop): string[] => loop.tasks.map(({ stand }) => stand.name)

describe('a task', () => {
  test('that is worked on and passes its check is done, and its box is ticked', () => {
    const { loop, world } = play({}, [])
    expect(loop.stage).toMatchObject({ name: 'ended', ending: { kind: 'done', reason: '1 of 1 task done and proven' } })
    expect([...world.ticked]).toEqual(['k1'])
  })

  test('that is ticked without work is unticked, tried again with the reason, and set aside in the end', () => {
    const { loop, world } = play({}, ['liar', 'liar', 'liar'], 2)
    expect(stands(loop)).toEqual(['blocked', 'done'])
    expect([...world.ticked]).toEqual(['k2'])
    expect(loop.tasks[0]?.stand).toMatchObject({
      flaw: { kind: 'idle', reason: expect.stringMatching(/changed nothing; its box was ticked, and is open again/) },
    })
    expect(loop.stage).toMatchObject({
      ending: { kind: 'unfinished', reason: expect.stringContaining('1 of 2 tasks done') },
    })
  })

  test('that breaks the check is tried again, and may succeed', () => {
    const { loop } = play({}, ['breaker', 'idle', 'good'])
    expect(stands(loop)).toEqual(['done'])
    expect(loop.tasks[0]?.tries.map(({ flaw }) => flaw?.kind)).toEqual(['broken', 'broken', undefined])
  })

  test('that an agent of another task has done as well is not done on two agents’ word', () => {
    const { loop, world } = play({}, ['greedy', 'idle', 'idle', 'idle'], 2)
    expect(stands(loop)).toEqual(['done', 'blocked'])
    expect([...world.ticked]).toEqual(['k1'])
  })

  test('that an agent of another task has only ticked is open again', () => {
    const world = new LoopWorld({
      spec: SPEC,
      items: items(2),
      temper: iteration => (iteration === 1 ? 'greedy' : 'quitter'),
      clashes: () => false,
    })
    const { loop } = live(
      world,
      () => 0,
      () => 'heard',
    )
    expect(stands(loop)).toEqual(['done', 'blocked'])
    expect([...world.ticked]).toEqual(['k1'])
  })
})

test('a box that is still to be unticked when its task is done stays ticked', () => {
  const temper = (iteration: number): Temper => (iteration === 1 ? 'liar' : 'good')
  const world = new LoopWorld({ spec: SPEC, items: items(1), temper, clashes: () => false })
  live(
    world,
    () => 0.5,
    () => 'heard',
  )
  expect([...world.ticked]).toEqual(['k1'])
})

test('work of others is not taken for a task’s own when that is tried again', () => {
  const temper = (iteration: number): Temper => (iteration === 4 ? 'good' : 'idle')
  const world = new LoopWorld({ spec: SPEC, items: items(2), temper, clashes: () => false })
  const { loop } = live(
    world,
    () => 0,
    () => 'heard',
    1,
  )
  expect(stands(loop)).toEqual(['blocked', 'done'])
})

describe('a loop', () => {
  test('stops at the iterations it was allowed, and says so', () => {
    const { loop } = play({ maxIterations: 2 }, ['idle', 'good'], 3)
    expect(loop.iterations).toBe(2)
    expect(loop.stage).toMatchObject({
      ending: { kind: 'unfinished', reason: '1 of 3 tasks done; 2 iterations were allowed' },
    })
  })

  test('of one task leaves the others alone', () => {
    const { loop } = play({ only: '2' }, [], 3)
    expect(stands(loop)).toEqual(['open', 'done', 'open'])
    expect(loop.stage).toMatchObject({ ending: { kind: 'done' } })
  })

  test('begins no task before those it waits for', () => {
    const world = new LoopWorld({
      spec: { ...SPEC, parallel: 4 },
      items: items(4, n => (n === 1 ? [] : [`k${n - 1}`])),
      temper: () => 'good',
      clashes: () => false,
    })
    const { loop } = live(
      world,
      () => 0,
      () => 'heard',
    )
    expect(world.merged).toEqual(['k1', 'k2', 'k3', 'k4'])
    expect(stands(loop)).toEqual(['done', 'done', 'done', 'done'])
  })

  test('has fewer at work after a usage limit', () => {
    const world = new LoopWorld({
      spec: { ...SPEC, parallel: 4 },
      items: items(8),
      temper: iteration => (iteration === 1 ? 'limited' : 'good'),
      clashes: () => false,
    })
    const { loop } = live(
      world,
      () => 0,
      () => 'heard',
    )
    expect(loop.width).toBe(2)
    expect(loop.stage).toMatchObject({ ending: { kind: 'done' } })
  })
})

const TEMPERS: readonly Temper[] = ['good', 'idle', 'liar', 'breaker', 'quitter', 'greedy', 'limited']
const FATES: readonly Fate[] = ['heard', 'heard', 'heard', 'unheard', 'undone']

test('however agents behave and whenever its program dies, a loop ends with the truth', () => {
  fc.assert(
    fc.property(
      fc.record({
        count: fc.integer({ min: 1, max: 7 }),
        parallel: fc.constantFrom(null, 1, 2, 4),
        tempers: fc.array(fc.constantFrom(...TEMPERS), { minLength: 1, maxLength: 60 }),
        fates: fc.array(fc.constantFrom(...FATES), { minLength: 1, maxLength: 80 }),
        chances: fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 1, maxLength: 50 }),
        clashing: fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 3 }),
        resumes: fc.constantFrom(0, 0, 1, 2),
      }),
      ({ count, parallel, tempers, fates, chances, clashing, resumes }) => {
        const next = <T>(from: readonly T[]): (() => T) => {
          let at = 0
          return () => from[at++ % from.length] as T
        }
        const temper = (iteration: number): Temper => tempers[iteration % tempers.length] as Temper
        const world = new LoopWorld({
          spec: { ...SPEC, parallel },
          items: items(count),
          temper,
          clashes: number => clashing.includes(number),
        })
        const isKilledForEver = fates.every(fate => fate !== 'heard')
        const { loop, steps } = live(world, next(chances), next(isKilledForEver ? [...fates, 'heard'] : fates), resumes)
        expect(steps).toBeLessThan(20_000)
        expect(loop.stage.name).toBe('ended')
        expect(loop.tasks.map(({ item }) => item.key).sort()).toEqual(items(count).map(({ key }) => key))
        for (const { item, stand, tries } of loop.tasks) {
          expect(['done', 'blocked']).toContain(stand.name)
          const isShown = parallel === null ? world.workOn('here').has(item.key) : world.merged.includes(item.key)
          if (stand.name === 'done') expect(isShown, `${item.key} is done`).toBe(true)
          if (stand.name === 'blocked') expect(stand.flaw.reason).not.toBe('')
          expect(world.ticked.has(item.key), `the box of ${item.key}`).toBe(stand.name === 'done')
          expect(tries.length).toBeLessThanOrEqual((2 * SPEC.retries + 3) * (resumes + 1))
        }
        expect(new Set(world.merged).size).toBe(world.merged.length)
        expect(world.lost).toEqual([])
      },
    ),
    { numRuns: 300 },
  )
}, 120_000)
