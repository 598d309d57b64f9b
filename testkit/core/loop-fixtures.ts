import { newTask, newIteration } from '../../src/core/loop/loop-updates.ts'
import { createLoop, type Loop, type LoopTask, type TaskState, type Iteration } from '../../src/core/loop/loop-state.ts'
import type { LoopSpec } from '../../src/core/loop/spec.ts'
import type { Instant } from '../../src/lib/time.ts'

/** Start time of the loops in the testkit. */
export const LOOP_STARTED_AT: Instant = Date.parse('2026-11-15T10:00:00.000Z')

export function makeLoopSpec(overrides: Partial<LoopSpec> = {}): LoopSpec {
  return {
    list: 'PRD.md',
    worker: {
      agent: 'demo',
      argv: [],
      model: null,
      effort: null,
      autonomy: 'full',
      supervision: { maxTime: null, projectFiles: false },
    },
    check: { line: 'npm test', why: 'package.json has a test script' },
    checkLimit: 60_000,
    setup: null,
    parallel: null,
    stagger: 0,
    maxIterations: null,
    retries: 3,
    only: null,
    land: false,
    plan: 'none',
    ...overrides,
  }
}

/** Returns a loop that works on these tasks. */
export function makeLoop(
  tasks: readonly LoopTask[],
  overrides: Partial<Loop> = {},
  spec: Partial<LoopSpec> = {},
): Loop {
  return {
    ...createLoop(makeLoopSpec(spec), LOOP_STARTED_AT),
    stage: { name: 'working' },
    tasks,
    firstCheck: { ok: true, how: 'exit code 0' },
    ...overrides,
  }
}

/** Returns a task by its number; `worked` holds the starts and ends of its tries, in seconds from the loop's start. */
export function makeTask(
  number: number,
  state: TaskState,
  {
    worked = [],
    after = [],
    last = {},
  }: {
    worked?: readonly (readonly [number, number | null])[]
    after?: readonly number[]
    last?: Partial<Iteration>
  } = {},
): LoopTask {
  const tries = worked.map(([since, until], at) => ({
    ...newIteration(at + 1, 'task', LOOP_STARTED_AT + since * 1000),
    until: until === null ? null : LOOP_STARTED_AT + until * 1000,
    session: `demo-prd-${number}-${at + 1}`,
    ...(at === worked.length - 1 && last),
  }))
  const item = {
    key: `task ${number}`,
    label: String(number),
    title: `make part ${number}`,
    path: [],
    body: '',
    isDone: state.name === 'done',
    after: after.map(one => `task ${one}`),
  }
  return { ...newTask(item, number), state: state, tries }
}

export function doneState(seconds: number): TaskState {
  const how = '1 commit, 2 files +10 -1, npm test: exit code 0 after 3 s'
  return { name: 'done', at: LOOP_STARTED_AT + seconds * 1000, how, proof: 'checked' }
}

export const WORKING_STATE: TaskState = { name: 'working', role: 'task', rest: null }

export function blockedState(seconds: number, reason = 'the check fails: npm test: exit code 1 after 2 s'): TaskState {
  return { name: 'blocked', at: LOOP_STARTED_AT + seconds * 1000, failure: { kind: 'broken', reason, detail: '' } }
}
