import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testSize } from '../../../testkit/system/test-size.ts'
import { makeLoopSpec } from '../../../testkit/core/loop-fixtures.ts'
import { type EffectFate, runLoop, SimulatedLoop, type WorkerBehavior } from '../../../testkit/core/simulated-loop.ts'
import { newTask, newIteration } from './loop-updates.ts'
import { loopOutcome } from './outcome.ts'
import { decideLoop } from './decide.ts'
import { evidenceOf } from './work-evidence.ts'
import type { ListItem } from './list/task-list.ts'
import { onBaselineChecked } from './baseline-check.ts'
import { createLoop, type Loop, type LoopTask, taskProof } from './loop-state.ts'
import type { TamperingReport } from '../tampering/detect-tampering.ts'
import type { CheckRun } from './signals.ts'
import type { LoopSpec } from './spec.ts'

const SPEC = makeLoopSpec({ stagger: 2_000 })

function items(count: number, after: (n: number) => readonly string[] = () => []): Omit<ListItem, 'isDone'>[] {
  return Array.from({ length: count }, (_, at) => ({
    key: `k${at + 1}`,
    label: `${at + 1}`,
    title: `task ${at + 1}`,
    path: [],
    body: '',
    after: after(at + 1),
  }))
}

function play(
  spec: Partial<LoopSpec>,
  tempers: readonly WorkerBehavior[],
  count = 1,
): { loop: Loop; world: SimulatedLoop } {
  const temper = (iteration: number): WorkerBehavior => tempers[iteration - 1] ?? 'good'
  const world = new SimulatedLoop({ spec: { ...SPEC, ...spec }, items: items(count), temper, hasConflict: () => false })
  const { loop } = runLoop(
    world,
    () => 0,
    () => 'heard',
  )
  return { loop, world }
}

const stateNames = (loop: Loop): string[] => loop.tasks.map(({ state }) => state.name)

describe('tasks', () => {
  test('a task that passes its check is done, and the loop ticks its box', () => {
    const { loop, world } = play({}, [])
    expect(loop.stage).toMatchObject({ name: 'ended', ending: { kind: 'done', reason: '1 of 1 task done and proven' } })
    expect([...world.ticked]).toEqual(['k1'])
  })

  test.each([null, 2])('a task without a check is not called proven (parallel: %s)', parallel => {
    const { loop } = play({ check: null, parallel }, [], 2)
    expect(loop.tasks.map(taskProof)).toEqual(['changed', 'changed'])
    expect(loop.stage).toMatchObject({ ending: { reason: '2 of 2 tasks done (changed files; not tested)' } })
    const proven = play({ parallel }, []).loop
    expect(proven.tasks.map(taskProof)).toEqual(['checked'])
  })

  test('a task that somebody ticked, or that no check tested, is not called proven', () => {
    const { loop } = play({}, [], 3)
    const proofs = [{ proof: 'checked' }, { proof: 'changed' }, {}] as const
    const tasks = loop.tasks.map((task, n) => ({
      ...task,
      state: { name: 'done', at: 0, how: '', ...proofs[n] } as const,
    }))
    expect(loopOutcome({ ...loop, tasks }).reason).toBe(
      '3 of 3 tasks done (1 proven; 1 only changed files; 1 ticked in the list)',
    )
  })

  test('the loop unticks a box without work, retries the task with the reason, and blocks it in the end', () => {
    const { loop, world } = play({}, ['liar', 'liar', 'liar'], 2)
    expect(stateNames(loop)).toEqual(['blocked', 'done'])
    expect([...world.ticked]).toEqual(['k2'])
    expect(loop.tasks[0]?.state).toMatchObject({
      failure: {
        kind: 'idle',
        reason: expect.stringMatching(
          /without changing any file; the agent had ticked its box, and the loop opened it again/,
        ),
      },
    })
    expect(loop.stage).toMatchObject({
      ending: { kind: 'unfinished', reason: expect.stringContaining('1 of 2 tasks done') },
    })
  })

  test('a task that breaks the check gets another try, and may succeed', () => {
    const { loop } = play({}, ['breaker', 'idle', 'good'])
    expect(stateNames(loop)).toEqual(['done'])
    expect(loop.tasks[0]?.tries.map(({ failure }) => failure?.kind)).toEqual(['broken', 'broken', undefined])
  })

  test('the report of another task’s agent does not make a task done', () => {
    const { loop, world } = play({}, ['greedy', 'idle', 'idle', 'idle'], 2)
    expect(stateNames(loop)).toEqual(['done', 'blocked'])
    expect([...world.ticked]).toEqual(['k1'])
  })

  test('the loop reopens a task that another task’s agent only ticked', () => {
    const world = new SimulatedLoop({
      spec: SPEC,
      items: items(2),
      temper: iteration => (iteration === 1 ? 'greedy' : 'quitter'),
      hasConflict: () => false,
    })
    const { loop } = runLoop(
      world,
      () => 0,
      () => 'heard',
    )
    expect(stateNames(loop)).toEqual(['done', 'blocked'])
    expect([...world.ticked]).toEqual(['k1'])
  })
})

describe('undone finished work', () => {
  test('an undone task opens again, and the agent that undid it has done nothing', () => {
    const { loop, world } = play({}, ['good', 'wrecker', 'good', 'good'], 2)
    expect(stateNames(loop)).toEqual(['done', 'done'])
    expect(loop.tasks.map(({ tries }) => tries.map(({ failure }) => failure?.kind))).toEqual([
      ['lost', undefined],
      ['lost', undefined],
    ])
    expect(loop.notes).toEqual(['task 1 was opened again: k1 is gone; `git restore` brings it back'])
    expect([...world.ticked].toSorted()).toEqual(['k1', 'k2'])
  })

  test('the loop notices before its end that the check itself undid work', () => {
    const { loop, world } = play({}, ['wiped', 'good'])
    expect(stateNames(loop)).toEqual(['done'])
    expect(loop.tasks[0]?.tries).toHaveLength(2)
    expect(world.workOn('here').has('k1')).toBe(true)
  })

  test('the loop leaves two tasks that undo each other to a person', () => {
    const { loop, world } = play(
      {},
      Array.from({ length: 40 }, () => 'undoer' as const),
      2,
    )
    expect(stateNames(loop)).toContain('blocked')
    const blocked = loop.tasks.find(({ state }) => state.name === 'blocked')
    expect(blocked?.state).toMatchObject({ failure: { reason: expect.stringContaining('(undone 3 times)') } })
    for (const { item, state } of loop.tasks) expect(world.ticked.has(item.key)).toBe(state.name === 'done')
  })
})

test('a box with a pending untick stays ticked when its task is done', () => {
  const temper = (iteration: number): WorkerBehavior => (iteration === 1 ? 'liar' : 'good')
  const world = new SimulatedLoop({ spec: SPEC, items: items(1), temper, hasConflict: () => false })
  runLoop(
    world,
    () => 0.5,
    () => 'heard',
  )
  expect([...world.ticked]).toEqual(['k1'])
})

test('a retried task does not count the work of others as its own', () => {
  const temper = (iteration: number): WorkerBehavior => (iteration === 4 ? 'good' : 'idle')
  const world = new SimulatedLoop({ spec: SPEC, items: items(2), temper, hasConflict: () => false })
  const { loop } = runLoop(
    world,
    () => 0,
    () => 'heard',
    1,
  )
  expect(stateNames(loop)).toEqual(['blocked', 'done'])
})

describe('loops', () => {
  test('a loop stops at its iteration limit, and says so', () => {
    const { loop } = play({ maxIterations: 2 }, ['idle', 'good'], 3)
    expect(loop.iterations).toBe(2)
    expect(loop.stage).toMatchObject({
      ending: { kind: 'unfinished', reason: '1 of 3 tasks done; 2 iterations were allowed' },
    })
  })

  test('a loop of one task leaves the other tasks alone', () => {
    const { loop } = play({ only: '2' }, [], 3)
    expect(stateNames(loop)).toEqual(['open', 'done', 'open'])
    expect(loop.stage).toMatchObject({ ending: { kind: 'done' } })
  })

  test('a loop starts no task before its dependencies are done', () => {
    const world = new SimulatedLoop({
      spec: { ...SPEC, parallel: 4 },
      items: items(4, n => (n === 1 ? [] : [`k${n - 1}`])),
      temper: () => 'good',
      hasConflict: () => false,
    })
    const { loop } = runLoop(
      world,
      () => 0,
      () => 'heard',
    )
    expect(world.merged).toEqual(['k1', 'k2', 'k3', 'k4'])
    expect(stateNames(loop)).toEqual(['done', 'done', 'done', 'done'])
  })

  test('a loop runs fewer workers after a usage limit', () => {
    const world = new SimulatedLoop({
      spec: { ...SPEC, parallel: 4 },
      items: items(8),
      temper: iteration => (iteration === 1 ? 'limited' : 'good'),
      hasConflict: () => false,
    })
    const { loop } = runLoop(
      world,
      () => 0,
      () => 'heard',
    )
    expect(loop.concurrency).toBe(2)
    expect(loop.stage).toMatchObject({ ending: { kind: 'done' } })
  })
})

const TEMPERS: readonly WorkerBehavior[] = [
  'good',
  'idle',
  'liar',
  'breaker',
  'quitter',
  'greedy',
  'limited',
  'wrecker',
  'undoer',
  'wiped',
]
const FATES: readonly EffectFate[] = ['heard', 'heard', 'heard', 'unheard', 'undone']

test('a loop ends with a true outcome, however agents behave and whenever its program dies', () => {
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
        const temper = (iteration: number): WorkerBehavior => tempers[iteration % tempers.length] as WorkerBehavior
        const world = new SimulatedLoop({
          spec: { ...SPEC, parallel },
          items: items(count),
          temper,
          hasConflict: number => clashing.includes(number),
        })
        const isKilledForEver = fates.every(fate => fate !== 'heard')
        const { loop, steps } = runLoop(
          world,
          next(chances),
          next(isKilledForEver ? [...fates, 'heard'] : fates),
          resumes,
        )
        expect(steps).toBeLessThan(20_000)
        expect(loop.stage.name).toBe('ended')
        expect(loop.tasks.map(({ item }) => item.key).sort()).toEqual(items(count).map(({ key }) => key))
        for (const { item, state, tries } of loop.tasks) {
          expect(['done', 'blocked']).toContain(state.name)
          const isShown = parallel === null ? world.workOn('here').has(item.key) : world.merged.includes(item.key)
          if (state.name === 'done') expect(isShown, `${item.key} is done`).toBe(true)
          if (state.name === 'blocked') expect(state.failure.reason).not.toBe('')
          expect(world.ticked.has(item.key), `the box of ${item.key}`).toBe(state.name === 'done')
          expect(tries.length).toBeLessThanOrEqual((2 * SPEC.retries + 6) * (resumes + 1))
        }
        expect(new Set(world.merged).size).toBe(world.merged.length)
        expect(world.lost).toEqual([])
      },
    ),
    { numRuns: testSize(80, 300) },
  )
}, 120_000)

describe('a check that runs other tests than before the first task', () => {
  const NONE = { refused: [], allowed: [] }
  const checked = (tail: string): CheckRun => ({ ok: true, how: 'exit code 0', tail })
  const loop = { ...createLoop(SPEC, 0), stage: { name: 'working' } } as const
  const first = onBaselineChecked(loop, {
    type: 'baseline.checked',
    at: 0,
    check: checked('12 passed in 1s'),
    trouble: null,
  })

  /** Returns the loop after a task that changed a file, with this check and these findings. */
  function verified(check: CheckRun, weakened: TamperingReport = NONE, before: Loop = first): Loop {
    const since = { head: null, tree: 't' }
    const task: LoopTask = {
      ...newTask({ ...items(1)[0], isDone: false } as ListItem, 1),
      tries: [newIteration(1, 'task', 0)],
      state: { name: 'verifying', role: 'task', finalOutput: '', failure: null },
    }
    const file = { path: 'a', name: 'a', before: null, after: '100644 1', added: 1, removed: 0 }
    const evidence = evidenceOf({ commits: [], commitCount: 0, now: since }, [
      { ...file, isCommitted: true, isOwn: true },
    ])
    const seen = { task: 'k1', iteration: 1, evidence, check, list: null, unresolved: [], weakened }
    return decideLoop(
      { ...before, stage: loop.stage, tasks: [task], iterations: 1 },
      { type: 'task.verified', at: 1, ...seen },
    )
  }
  const stateOf = (after: Loop): LoopTask['state'] | undefined => after.tasks[0]?.state

  test('proves a task if it runs as many tests, or if the number is unknown', () => {
    for (const output of ['14 passed in 1s', '12 passed in 1s', 'all is well'])
      expect(stateOf(verified(checked(output)))).toMatchObject({ name: 'done', proof: 'checked' })
    // The whole output counts, and not its end alone.
    expect(stateOf(verified({ ...checked('0 passed'), tests: 12 }))).toMatchObject({ name: 'done', proof: 'checked' })
  })

  test('does not fully prove a task if it runs fewer tests, and the evidence says so once', () => {
    const fewer = verified(checked('3 passed in 1s'))
    const doubt = 'only 3 of 12 tests still run'
    expect(stateOf(fewer)).toMatchObject({
      name: 'done',
      proof: 'changed',
      doubt,
      how: expect.stringMatching(`exit code 0, not fully proven: ${doubt}$`),
    })
    expect(loopOutcome(fewer).reason).toBe('1 of 1 task done (not fully proven)')
    expect(stateOf(verified(checked('3 passed in 1s'), NONE, fewer))).toMatchObject({ proof: 'checked' })
  })

  test('fails a task if it runs no test any more, also the second time, unless the user allows it', () => {
    const none = verified(checked('Ran 0 tests in 0.000s\n\nOK'))
    const failure = { kind: 'weakened', reason: 'the check runs no test any more; it ran 12 before' }
    expect(none.tasks[0]?.tries[0]?.failure).toMatchObject(failure)
    expect(verified(checked('0 passed'), NONE, none).tasks[0]?.tries[0]?.failure).toMatchObject(failure)
    const allowed = verified(checked('0 passed'), { refused: [], allowed: ['test/a.ts: was deleted'] })
    expect(stateOf(allowed)).toMatchObject({ name: 'done', proof: 'changed' })
    expect(stateOf(verified(checked('0 passed'), NONE, allowed))).toMatchObject({ name: 'done', proof: 'checked' })
  })

  test('does not fully prove a task that changed existing tests, and proves one that only added to them', () => {
    const changed = verified(checked('12 passed'), {
      ...NONE,
      changedTests: ['a.test.ts (+1 -1)', 'b.test.ts (+0 -2)'],
    })
    expect(stateOf(changed)).toMatchObject({
      name: 'done',
      proof: 'changed',
      how: expect.stringMatching(
        /, not fully proven: changed existing tests: a\.test\.ts \(\+1 -1\), b\.test\.ts \(\+0 -2\)$/,
      ),
    })
    expect(stateOf(verified(checked('12 passed'), { ...NONE, extendedTests: ['a.test.ts (+4 -0)'] }))).toMatchObject({
      name: 'done',
      proof: 'checked',
      how: expect.stringMatching(/, added to existing tests: a\.test\.ts \(\+4 -0\)$/),
    })
  })
})

test('the loop reports a weaker check even if its agent failed in another way as well', () => {
  const item = { ...items(1)[0], isDone: false } as ListItem
  const working = { ...createLoop({ ...SPEC, retries: 1 }, 0), stage: { name: 'working' } as const }
  const failure = { kind: 'failed', reason: 'exit code 1', detail: '' } as const
  const since = { head: null, tree: 't' }
  const task = {
    ...newTask(item, 1),
    place: { cwd: '/', branch: null, since },
    tries: [newIteration(1, 'task', 0)],
    state: { name: 'verifying', role: 'task', finalOutput: '', failure } as const,
  }
  const evidence = evidenceOf({ commits: [], commitCount: 0, now: since }, [])
  const seen = {
    task: 'k1',
    iteration: 1,
    evidence,
    check: null,
    list: null,
    unresolved: ['a.txt'],
    underWay: 'a merge',
  }
  const weakened = { refused: ['check.sh: was changed'], allowed: [] }
  const loop = { ...working, tasks: [task], iterations: 1 }
  const judged = decideLoop(loop, { type: 'task.verified', at: 1, ...seen, weakened })
  expect(judged.tasks[0]?.state).toMatchObject({ name: 'blocked', failure: { kind: 'weakened' } })
  expect(judged.halt).toContain('task 1 left a weaker check behind')
})
