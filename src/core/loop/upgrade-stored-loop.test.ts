import { expect, test } from 'vitest'
import { makeLoopSpec } from '../../../testkit/core/loop-fixtures.ts'
import { createLoop } from './loop-state.ts'
import { upgradeLoop } from './upgrade-stored-loop.ts'

const SNAPSHOT = { head: 'a1', tree: 'b2' }
const PLACE = { cwd: '/p', branch: null, since: SNAPSHOT }
const CLASH = { kind: 'clash', reason: 'both changed a.txt', detail: '' }
const EVIDENCE = { commits: 1, files: [] }
const { spec, ...empty } = createLoop(makeLoopSpec(), 5, 6)

/** A loop as version 1 wrote it. */
const WRITTEN = {
  spec: { ...spec, seek: true },
  stage: { name: 'working' },
  tasks: [
    {
      item: { key: 'k', label: '1', title: 'one', after: [] },
      stand: { name: 'judging', role: 'task', said: 'I did it', flaw: null },
      tries: [{ iteration: 1, role: 'task', flaw: CLASH }],
      place: PLACE,
      resolution: null,
      clash: ['a.txt'],
      number: 1,
      pardoned: 2,
      isMissing: false,
      isCleared: true,
      kept: [],
      sealed: 'c3',
      undone: { stand: { name: 'done', at: 1, how: 'checked' }, place: PLACE, resolution: null, evidence: EVIDENCE },
    },
  ],
  plan: [{ iteration: 0, role: 'plan', flaw: null }],
  iterations: 1,
  waived: 3,
  width: 4,
  widthSince: 7,
  marking: 'landing',
  toMark: [{ key: 'k', isDone: true }],
  wokenAt: 8,
  yours: { since: SNAPSHOT, now: SNAPSHOT },
  home: 'main',
  notes: ['a note'],
  createdAt: 5,
}

test('a loop of version 1 keeps every fact under its present name', () => {
  expect(upgradeLoop(WRITTEN)).toEqual({
    spec: { ...spec, detectCheckEachTime: true },
    stage: { name: 'working' },
    tasks: [
      {
        item: { key: 'k', label: '1', title: 'one', after: [] },
        state: { name: 'verifying', role: 'task', finalOutput: 'I did it', failure: null },
        tries: [{ iteration: 1, role: 'task', failure: { ...CLASH, kind: 'conflict' } }],
        checkout: PLACE,
        resolution: null,
        conflicts: ['a.txt'],
        number: 1,
        forgivenTries: 2,
        isMissing: false,
        isWorktreeRemoved: true,
        remainingWork: [],
        verifiedCommit: 'c3',
        previousCompletion: {
          state: { name: 'done', at: 1, how: 'checked' },
          checkout: PLACE,
          resolution: null,
          evidence: EVIDENCE,
        },
      },
    ],
    plan: [{ iteration: 0, role: 'plan', failure: null }],
    iterations: 1,
    forgivenIterations: 3,
    concurrency: 4,
    concurrencySince: 7,
    tickAt: 'landing',
    marksToWrite: [{ key: 'k', isDone: true }],
    resumedAt: 8,
    userChanges: { since: SNAPSHOT, now: SNAPSHOT },
    userBranch: 'main',
    notes: ['a note'],
    createdAt: 5,
  })
})

test('a loop of the present version stays as it is', () => {
  const loop = { spec, ...empty }
  expect(upgradeLoop(loop as never)).toEqual(loop)
})

test('a list that is no list stays one, so that its reader reports it', () => {
  expect(upgradeLoop({ ...WRITTEN, tasks: 5 }).tasks).toBe(5)
})
