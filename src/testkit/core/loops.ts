import { newTask, newTry } from '../../core/loop/change.ts'
import { createLoop, type Loop, type LoopTask, type Stand, type Try } from '../../core/loop/loop.ts'
import type { LoopSpec } from '../../core/loop/spec.ts'
import type { Instant } from '../../lib/time.ts'

/** When the loops of the testkit begin. */
export const BEGIN: Instant = Date.parse('2026-11-15T10:00:00.000Z')

export function aLoopSpec(traits: Partial<LoopSpec> = {}): LoopSpec {
  return {
    list: 'PRD.md',
    worker: {
      agent: 'demo',
      argv: [],
      model: null,
      effort: null,
      autonomy: 'full',
      maxTime: null,
      limits: { usd: null, tokens: null, turns: null },
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
    ...traits,
  }
}

/** A loop that works on these tasks. */
export function aLoop(tasks: readonly LoopTask[], traits: Partial<Loop> = {}, spec: Partial<LoopSpec> = {}): Loop {
  return {
    ...createLoop(aLoopSpec(spec), BEGIN),
    stage: { name: 'working' },
    tasks,
    firstCheck: { ok: true, how: 'exit code 0' },
    ...traits,
  }
}

/** A task by its number; `worked` are the starts and ends of its tries, in seconds from the beginning. */
export function aTask(
  number: number,
  stand: Stand,
  {
    worked = [],
    after = [],
    last = {},
  }: { worked?: readonly (readonly [number, number | null])[]; after?: readonly number[]; last?: Partial<Try> } = {},
): LoopTask {
  const tries = worked.map(([since, until], at) => ({
    ...newTry(at + 1, 'task', BEGIN + since * 1000),
    until: until === null ? null : BEGIN + until * 1000,
    session: `demo-prd-${number}-${at + 1}`,
    ...(at === worked.length - 1 && last),
  }))
  const item = {
    key: `task ${number}`,
    label: String(number),
    title: `make part ${number}`,
    path: [],
    body: '',
    isDone: stand.name === 'done',
    after: after.map(one => `task ${one}`),
  }
  return { ...newTask(item, number), stand, tries }
}

export function doneAt(seconds: number): Stand {
  const how = '1 commit, 2 files +10 -1, npm test: exit code 0 after 3 s'
  return { name: 'done', at: BEGIN + seconds * 1000, how, proof: 'checked' }
}

export const WORKING: Stand = { name: 'working', role: 'task', rest: null }

export function blockedAt(seconds: number, reason = 'the check fails: npm test: exit code 1 after 2 s'): Stand {
  return { name: 'blocked', at: BEGIN + seconds * 1000, flaw: { kind: 'broken', reason, detail: '' } }
}
