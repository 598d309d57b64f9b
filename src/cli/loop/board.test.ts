import { describe, expect, it } from 'vitest'
import type { LoopTaskView } from '../../api/contract/loop-view.ts'
import {
  makeLoop,
  makeTask,
  LOOP_STARTED_AT,
  blockedState,
  doneState,
  WORKING_STATE,
} from '../../../testkit/core/loop-fixtures.ts'
import { displayWidth } from '../../lib/text/display-width.ts'
import { createBoard } from '../../views/loop/board.ts'
import { makePaint } from '../terminal/colors.ts'
import { makeSessionView } from '../../../testkit/views/session-view.ts'
import { boardLines } from './board.ts'
import { foldTasks, isFolded } from './fold-tasks.ts'

const session = makeSessionView({ name: 'ralph-prd', task: 'prd', agent: 'ralph' })
const loop = makeLoop(
  [
    makeTask(1, doneState(60), { worked: [[0, 55]] }),
    makeTask(2, blockedState(90), { worked: [[60, 85]] }),
    makeTask(3, WORKING_STATE, { worked: [[90, null]] }),
    makeTask(4, { name: 'open' }, { after: [3] }),
  ],
  { iterations: 3, branch: 'oneshot/ralph-prd-k3v9', concurrency: 1, notes: ['something is odd'] },
  { parallel: 2 },
)
const board = createBoard(loop, session, LOOP_STARTED_AT + 100_000)
const plain = makePaint(false)
const lines = (width: number, height = Number.POSITIVE_INFINITY): string[] =>
  boardLines(board, '● running ralph-prd', plain, { width, height })

it('the board shows all facts, and needs no colour to be understood', () => {
  expect(lines(Number.POSITIVE_INFINITY)).toEqual([
    '● running ralph-prd',
    '  ██████▒▒▒▒▒▒░░░░░░░░░░░░  1 of 4 done · 1 working · 1 blocked · 1 open · about 2 min left',
    '  PRD.md by demo · check: npm test · 3 iterations · 1 of 2 at a time, after a limit',
    '  branch oneshot/ralph-prd-k3v9',
    '  note: something is odd',
    '',
    'NO  STATE      TRIES  COST  TIME   TASK         EVIDENCE',
    '1   ✔ done     1      -     1 min  make part 1  1 commit, 2 files +10 -1, npm test: exit code 0 after 3 s',
    '2   ▲ blocked  1      -     25 s   make part 2  the check fails: npm test: exit code 1 after 2 s',
    '3   ● working  1      -     10 s   make part 3  demo-prd-3-1',
    '4   ◌ open     -      -     -      make part 4  after 3',
    '',
    '  next  oneshot attach ralph-prd',
  ])
})

it.each([40, 60, 71, 72, 80, 100, 140])('the board is never wider than a terminal of %i columns', width => {
  expect(lines(width).filter(line => displayWidth(line) > width)).toEqual([])
})

it.each([6, 8, 10, 12, 20])('in a window of %i lines the board keeps the next command', height => {
  const shown = lines(80, height)
  expect(shown.length).toBeLessThan(height)
  expect(shown.at(-1)).toBe('  next  oneshot attach ralph-prd')
})

describe('a recovery command', () => {
  const cure = `git checkout ${'0123456789abcdef'.repeat(4)} -- notes/a-file-with-a-long-name.txt`
  const note = `the agent of task 1 removed a file of yours: \`${cure}\` brings it back`
  const evidence = `the agent of task 2 has set core.bare: \`${cure}\`, then oneshot resume ralph-prd`
  const tasks = board.tasks.map(task => (task.state === 'blocked' ? { ...task, evidence } : task))
  const shown = (width: number, height: number): string[] =>
    boardLines({ ...board, notes: [note], tasks }, 'head', plain, { width, height })

  it.each([40, 80, 120])('of a note or a blocked task is complete on a line of its own at %i columns', width => {
    const lines = shown(width, Number.POSITIVE_INFINITY).map(line => line.trim())
    expect(lines.filter(line => line === cure)).toHaveLength(2)
  })

  it('does not push the tasks out of a window', () => {
    expect(shown(80, 40).filter(line => displayWidth(line) > 80)).toEqual([])
    expect(shown(80, 40).join('').replaceAll(' ', '')).toContain(cure.replaceAll(' ', ''))
    expect(shown(80, 16).filter(line => line.startsWith('  note: '))).toHaveLength(1)
    expect(shown(80, 16).at(-1)).toBe('  next  oneshot attach ralph-prd')
    expect(shown(80, 16).some(line => line.startsWith('3   ● working'))).toBe(true)
  })
})

it('the board names both next commands, and the branch of a blocked task', () => {
  const blocked = board.tasks.map(task => (task.state === 'blocked' ? { ...task, branch: 'oneshot/x-2' } : task))
  const partly = { ...board, next: 'oneshot resume ralph-prd', also: 'oneshot ralph land ralph-prd', tasks: blocked }
  const shown = (width: number): string[] =>
    boardLines(partly, 'head', plain, { width, height: Number.POSITIVE_INFINITY })
  expect(shown(80).slice(-4)).toEqual([
    '',
    '  kept  task 2 is on oneshot/x-2',
    '',
    '  next  oneshot resume ralph-prd, or oneshot ralph land ralph-prd',
  ])
  expect(shown(60).slice(-2)).toEqual(['  next  oneshot resume ralph-prd', '        or oneshot ralph land ralph-prd'])
})

it('on a narrow terminal the board keeps number, state and task', () => {
  expect(lines(60)).toEqual(expect.arrayContaining(['NO  STATE      TASK', '3   ● working  make part 3: demo-prd-3-1']))
})

it('the board shows the tick only for tasks whose check passed', () => {
  const [first, ...others] = board.tasks as [LoopTaskView, ...LoopTaskView[]]
  const states = (height: number, ...proofs: readonly LoopTaskView['proof'][]): string[] => {
    const tasks = [...proofs.map(proof => ({ ...first, proof })), ...others]
    const shown = boardLines({ ...board, tasks }, 'head', plain, { width: 100, height })
    return shown.flatMap(line => line.match(/\S done\b(?! ·)/)?.[0] ?? [])
  }
  const all = Number.POSITIVE_INFINITY
  expect(states(all, 'checked', 'changed', null)).toEqual(['✔ done', '◇ done', '◇ done'])
  expect(states(12, 'checked', 'checked', 'checked')).toEqual(['✔ done'])
  expect(states(12, 'checked', 'changed', 'checked')).toEqual(['◇ done'])
})

describe('foldTasks', () => {
  const task = (id: number, state: LoopTaskView['state']): LoopTaskView => ({
    ...(board.tasks[0] as LoopTaskView),
    id: String(id),
    state,
  })
  const many = [
    ...Array.from({ length: 10 }, (_, i) => task(i + 1, 'done')),
    task(11, 'blocked'),
    task(12, 'working'),
    ...Array.from({ length: 10 }, (_, i) => task(i + 13, 'open')),
  ]
  const shown = (most: number): string[] =>
    foldTasks(many, most).map(row => (isFolded(row) ? `${row.count} ${row.state}` : row.id))

  it('folds done tasks first, then open ones, and never running or blocked ones', () => {
    expect(shown(22)).toHaveLength(22)
    expect(shown(15)).toEqual([
      '8 done',
      '9',
      '10',
      '11',
      '12',
      '13',
      '14',
      '15',
      '16',
      '17',
      '18',
      '19',
      '20',
      '21',
      '22',
    ])
    expect(shown(6)).toEqual(['10 done', '11', '12', '13', '14', '8 open'])
    expect(shown(2)).toEqual(['10 done', '11', '12', '10 open'])
  })
})

it('a long title uses the space that the evidence leaves', () => {
  const title = 'a title of a hundred and twenty characters '.repeat(3).trim()
  const tasks = board.tasks.map(task => ({ ...task, title, evidence: '1 file +5 -0' }))
  const shown = boardLines({ ...board, tasks }, '', plain, { width: 200, height: Number.POSITIVE_INFINITY })
  expect(shown.join('\n')).toContain(title)
})
