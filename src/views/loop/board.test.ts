import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LOOP_TASK_STATES } from '../../api/contract/loop-view.ts'
import { makeSessionView, makeEndedSessionView } from '../../../testkit/views/session-view.ts'
import { decideLoop } from '../../core/loop/decide.ts'
import type { Loop, LoopTask, TaskState } from '../../core/loop/loop-state.ts'
import {
  makeLoop,
  makeTask,
  LOOP_STARTED_AT,
  blockedState,
  doneState,
  WORKING_STATE,
} from '../../../testkit/core/loop-fixtures.ts'
import { formatIso } from '../../lib/time.ts'
import { createBoard } from './board.ts'

const LOOP = { name: 'ralph-prd', task: 'prd', agent: 'ralph' } as const
const CONFLICT = { kind: 'conflict', reason: 'a conflict in a.txt', detail: '' } as const
const running = makeSessionView(LOOP)
const at = (seconds: number): number => LOOP_STARTED_AT + seconds * 1000
const rows = (loop: Loop, session = running, seconds = 100): unknown[] =>
  createBoard(loop, session, at(seconds)).tasks.map(({ id, state, tries, evidence, seconds }) => [
    id,
    state,
    tries,
    evidence,
    seconds,
  ])

describe('createBoard', () => {
  it('shows the state, tries, evidence and working time of each task', () => {
    const loop = makeLoop([
      makeTask(1, doneState(30), { worked: [[0, 25]] }),
      makeTask(2, blockedState(60), {
        worked: [
          [30, 40],
          [45, 55],
        ],
      }),
      makeTask(3, WORKING_STATE, { worked: [[60, null]] }),
      makeTask(4, { name: 'working', role: 'task', rest: 'usage limit until 12:00' }, { worked: [[70, null]] }),
      makeTask(
        5,
        { name: 'open' },
        { worked: [[20, 30]], last: { failure: { kind: 'idle', reason: 'it changed nothing', detail: '' } } },
      ),
      makeTask(6, { name: 'open' }, { after: [3, 4] }),
    ])
    expect(rows(loop)).toEqual([
      ['1', 'done', 1, '1 commit, 2 files +10 -1, npm test: exit code 0 after 3 s', 30],
      ['2', 'blocked', 2, 'the check fails: npm test: exit code 1 after 2 s', 20],
      ['3', 'working', 1, null, 40],
      ['4', 'resting', 1, 'usage limit until 12:00', 30],
      ['5', 'open', 1, 'it changed nothing', 10],
      ['6', 'open', 0, 'after 3, 4', 0],
    ])
  })

  it('shows for each task if a check passed', () => {
    const loop = makeLoop([
      makeTask(1, doneState(30)),
      makeTask(2, { name: 'done', at: at(30), how: '1 file +1 -0; not tested', proof: 'changed' }),
      makeTask(3, { name: 'done', at: at(0), how: 'ticked before' }),
      makeTask(4, { name: 'merging', role: 'task' }, { worked: [[0, 9]], last: { proof: 'changed' } }),
      makeTask(5, { name: 'open' }),
    ])
    const { tasks } = createBoard(loop, running, at(100))
    expect(tasks.map(({ proof }) => proof)).toEqual(['checked', 'changed', null, 'changed', null])
  })

  it('shows no task in progress in a loop that does not run', () => {
    const loop = makeLoop([
      makeTask(1, WORKING_STATE, { worked: [[0, null]] }),
      makeTask(2, { name: 'merging', role: 'task' }, { worked: [[0, 9]] }),
    ])
    const stopped = makeEndedSessionView({
      ...LOOP,
      outcome: 'stopped',
      reason: 'stopped by you',
      endedAt: formatIso(at(30)),
    })
    expect(rows(loop, stopped)).toEqual([
      ['1', 'paused', 1, 'paused while being worked on', 30],
      ['2', 'paused', 1, 'paused while being merged', 30],
    ])
    expect(createBoard(loop, stopped, at(100))).toMatchObject({ secondsLeft: null, next: 'oneshot resume ralph-prd' })
  })

  it('shows in TIME how long agents worked, without the hour in which the loop was stopped', () => {
    const tasks = [
      makeTask(1, WORKING_STATE, { worked: [[0, null]] }),
      makeTask(2, { name: 'verifying', role: 'task', finalOutput: '', failure: null }, { worked: [[0, 9]] }),
      makeTask(3, blockedState(20), { worked: [[0, 15]] }),
      makeTask(4, { ...blockedState(20), failure: CONFLICT } as TaskState, { worked: [[0, 15]] }),
    ]
    const signal = { type: 'user.resume', at: at(3630), resumedAt: at(3629), stoppedAt: at(30) } as const
    const resumed = decideLoop(makeLoop(tasks, {}, { parallel: 4 }), signal)
    const seconds = (loop: Loop, now: number): number[] =>
      createBoard(loop, running, at(now)).tasks.map(task => task.seconds)
    expect(seconds(resumed, 3640)).toEqual([40, 40, 15 + 10, 20 + 10])
    const [first] = resumed.tasks as [LoopTask]
    expect(seconds({ ...resumed, tasks: [{ ...first, state: doneState(3650) }] }, 9999)).toEqual([50])
    const again = decideLoop(resumed, { ...signal, at: at(9000), resumedAt: at(8999), stoppedAt: at(3640) })
    expect(seconds(again, 9000)[0]).toBe(40)
    expect(
      createBoard(resumed, makeEndedSessionView({ endedAt: formatIso(at(3640)) }), at(9999)).tasks[0]?.seconds,
    ).toBe(40)
    const held = makeSessionView({ phase: 'blocked', trouble: 'held' })
    expect(createBoard(resumed, held, at(9999), { stoppedAt: at(3645) }).tasks[0]?.seconds).toBe(45)
  })

  it('omits tasks that left the list, and tasks that were not requested', () => {
    const tasks = [makeTask(1, { name: 'dropped' }), makeTask(2, { name: 'open' }), makeTask(3, { name: 'open' })]
    expect(createBoard(makeLoop(tasks), running, at(1)).tasks.map(({ id }) => id)).toEqual(['2', '3'])
    expect(createBoard(makeLoop(tasks, {}, { only: '3' }), running, at(1)).tasks.map(({ id }) => id)).toEqual(['3'])
  })

  it('names the next command: attach, resume, land or none', () => {
    const done = [makeTask(1, doneState(30), { worked: [[0, 25]] })]
    const ended = {
      stage: { name: 'ended', at: at(31), ending: { kind: 'done', reason: '1 of 1 task done and proven' } },
    } as const
    const session = makeEndedSessionView(LOOP)
    const next = (traits: Partial<Loop>): string | null =>
      createBoard(makeLoop(done, { ...ended, ...traits }), session, at(40)).next
    expect(createBoard(makeLoop(done), running, at(40)).next).toBe('oneshot attach ralph-prd')
    expect(next({ branch: 'oneshot/ralph-prd-k3v9' })).toBe('oneshot ralph land ralph-prd')
    expect(next({ branch: 'oneshot/ralph-prd-k3v9', landedAt: at(35) })).toBeNull()
    expect(next({})).toBeNull()
    expect(createBoard(makeLoop(done, ended), session, at(40)).reason).toBe('1 of 1 task done and proven')
    const failed = { ...session, outcome: 'failed' as const }
    const partly = makeLoop(done, { ...ended, branch: 'oneshot/ralph-prd-k3v9' })
    expect(createBoard(partly, failed, at(40))).toMatchObject({
      next: 'oneshot resume ralph-prd',
      also: 'oneshot ralph land ralph-prd',
    })
    expect(createBoard({ ...partly, landedAt: at(39) }, failed, at(40)).also).toBeNull()
  })

  it('counts limited iterations since the user last continued the loop', () => {
    const traits = { iterations: 3, forgivenIterations: 2 }
    const iterations = (maxIterations: number | null): number =>
      createBoard(makeLoop([], traits, { maxIterations }), running, at(1)).iterations
    expect([iterations(1), iterations(null)]).toEqual([1, 3])
  })

  it('recognises a plan that waits for a review', () => {
    const planned = {
      stage: { name: 'ended', at: at(9), ending: { kind: 'planned', reason: '1 task is planned' } },
    } as const
    const loop = makeLoop([makeTask(1, { name: 'open' })], planned, { plan: 'first' })
    const waiting = makeSessionView({ ...LOOP, phase: 'blocked', trouble: 'review', pid: null })
    expect(createBoard(loop, waiting, at(10))).toMatchObject({ stage: 'review', next: 'oneshot resume ralph-prd' })
  })
})

describe('the estimate', () => {
  const open = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => makeTask(from + i, { name: 'open' }))
  const left = (loop: Loop, seconds: number): number | null => createBoard(loop, running, at(seconds)).secondsLeft

  it('is null before a task is done, and ignores tasks that were ticked before', () => {
    expect(
      left(
        makeLoop([makeTask(1, doneState(0)), makeTask(2, WORKING_STATE, { worked: [[0, null]] }), ...open(3, 4)]),
        50,
      ),
    ).toBeNull()
  })

  it('is the average of the finished tasks, less the time already worked, divided by the width', () => {
    const tasks = [
      makeTask(1, doneState(60), { worked: [[0, 55]] }),
      makeTask(2, WORKING_STATE, { worked: [[60, null]] }),
      ...open(3, 2),
    ]
    expect(left(makeLoop(tasks), 80)).toBe(40 + 60 + 60)
    expect(left(makeLoop(tasks, { concurrency: 2 }), 80)).toBe(80)
    expect(left(makeLoop(tasks, { concurrency: 9 }), 80)).toBe(60)
  })

  it('is null while all agents rest, and when nothing is left', () => {
    const resting: TaskState = { name: 'working', role: 'task', rest: 'usage limit' }
    const done = makeTask(1, doneState(60), { worked: [[0, 55]] })
    expect(left(makeLoop([done, makeTask(2, resting, { worked: [[60, null]] })]), 80)).toBeNull()
    expect(left(makeLoop([done, makeTask(2, blockedState(70), { worked: [[60, 70]] })]), 80)).toBeNull()
  })
})

it('createBoard counts every task once in any state, and never estimates a negative time', () => {
  const stand = fc.oneof(
    fc.constantFrom<TaskState>(
      { name: 'open' },
      WORKING_STATE,
      { name: 'opening', role: 'task' },
      { name: 'merging', role: 'task' },
    ),
    fc.integer({ min: 0, max: 500 }).map(doneState),
    fc.integer({ min: 0, max: 500 }).map(seconds => blockedState(seconds)),
  )
  const worked = fc.option(fc.integer({ min: 0, max: 400 }), { nil: undefined })
  fc.assert(
    fc.property(
      fc.array(fc.record({ stand, worked }), { maxLength: 12 }),
      fc.integer({ min: 1, max: 8 }),
      (made, width) => {
        const tasks = made.map(({ stand, worked }, i) =>
          makeTask(i + 1, stand, { worked: worked === undefined ? [] : [[0, worked]] }),
        )
        const board = createBoard(makeLoop(tasks, { concurrency: width }), running, at(600))
        expect(LOOP_TASK_STATES.map(state => board.counts[state]).reduce((sum, one) => sum + one, 0)).toBe(tasks.length)
        expect(board.secondsLeft ?? 0).toBeGreaterThanOrEqual(0)
      },
    ),
  )
})
