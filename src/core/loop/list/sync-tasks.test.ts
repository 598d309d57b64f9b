import { describe, expect, it } from 'vitest'
import { makeLoopSpec } from '../../../../testkit/core/loop-fixtures.ts'
import { syncList, reviewListAfterWorker } from './sync-tasks.ts'
import { readChecklist } from './checklist.ts'
import { awaitsAcceptance } from '../schedule.ts'
import { updateTask } from '../loop-updates.ts'
import { createLoop, type Loop, type LoopTask } from '../loop-state.ts'
import { listKeys } from './renamed-items.ts'

const begun = (text: string): Loop =>
  syncList({ ...createLoop(makeLoopSpec({}), 0), tickAt: 'here' }, readChecklist(text), 0)
const at = (loop: Loop, label: string): LoopTask => loop.tasks.find(({ item }) => item.label === label) as LoopTask

/** Reviews the list as the agent of the task with this number leaves it. */
function leaves(loop: Loop, label: string, text: string): Loop {
  const judging = { name: 'verifying', role: 'task', finalOutput: '', failure: null } as const
  const busy = updateTask(loop, at(loop, label).item.key, task => ({ ...task, state: judging }))
  return reviewListAfterWorker(busy, readChecklist(text), at(busy, label))
}
const rows = ({ tasks }: Loop): string[] =>
  tasks.map(({ item, addedBy }) => `${item.label} ${item.title}${addedBy ? ' +' : ''}`)

describe('a task whose line an agent has edited', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    [
      'annotated',
      '- [ ] parse dates\n- [ ] write docs\n',
      '- [x] parse dates (done by agent 1, see commit abc)\n- [ ] write docs\n',
    ],
    ['struck out', '- [ ] parse dates\n- [ ] write docs\n', '- [x] ~~parse dates~~ ✅\n- [ ] write docs\n'],
    ['numbered', '- [ ] parse dates\n- [ ] write docs\n', '1. [x] 1. Parse dates\n2. [ ] 2. Write docs\n'],
    ['moved and annotated', '- [ ] parse dates\n- [ ] write docs\n', '* [ ] write docs\n* [x] Done: parse dates\n'],
    [
      'reworded in its place',
      '- [ ] parse dates\n- [ ] write docs\n',
      '- [x] Implemented the date thing\n- [ ] write docs\n',
    ],
    ['all reworded', '- [ ] parse dates\n- [ ] write docs\n', '- [x] Dating\n- [ ] Documentation\n'],
  ]
  for (const [name, before, after] of cases)
    it(`an edited line is no new task: ${name}`, () => {
      const loop = leaves(begun(before), '1', after)
      expect(rows(loop).toSorted()).toEqual(['1 parse dates', '2 write docs'])
      expect(loop.notes).toEqual([])
      // The list has its box under the present title.
      const keys = new Set(readChecklist(after).items.map(({ key }) => key))
      expect(loop.tasks.map(({ item }) => keys.has(listKeys(loop)(item.key)))).toEqual([true, true])
    })

  it('a task stays the same however often an agent edits it, and after a resume', () => {
    let loop = begun('- [ ] parse dates\n')
    let line = '- [ ] parse dates'
    for (let n = 0; n < 5; n++) {
      line += ` (try ${n})`
      loop = leaves(loop, '1', `${line}\n`)
    }
    expect(
      rows(
        syncList(
          updateTask(loop, at(loop, '1').item.key, task => ({ ...task, state: { name: 'open' } })),
          readChecklist(`${line}\n`),
          1,
        ),
      ),
    ).toEqual(['1 parse dates'])
  })
})

describe('tasks that an agent adds', () => {
  it('the loop reports added tasks with their agent, and gives them numbers of their own', () => {
    const loop = leaves(
      begun('- [ ] a\n- [ ] b\n- [ ] c\n'),
      '2',
      '- [ ] new\n- [ ] more\n- [ ] b\n- [ ] c\n- [ ] other\n',
    )
    expect(rows(loop)).toEqual(['4 new +', '5 more +', '2 b', '3 c', '6 other +', '1 a'])
    expect(loop.notes).toEqual([
      'the agent of task 2 added 3 tasks to the list: 4, 5, 6',
      'the agent of task 2 removed task 1 from the list',
    ])
    expect(loop.tasks.filter(awaitsAcceptance).map(({ item }) => item.title)).toEqual(['new', 'more', 'other'])
  })

  it('added tasks never share a number with another, even if somebody removes items from the list', () => {
    let loop = begun('- [ ] a\n- [ ] b\n- [ ] c\n')
    for (const [n, text] of [
      '- [ ] x one\n',
      '- [ ] a\n- [ ] y two\n- [ ] b\n',
      '- [ ] c\n- [ ] z three\n- [ ] z four\n',
    ].entries())
      loop = leaves(loop, String(n + 1), text)
    const open = { ...loop, tasks: loop.tasks.map((task): LoopTask => ({ ...task, state: { name: 'open' } })) }
    const resumed = syncList(open, readChecklist('- [ ] q\n- [ ] a\n- [ ] r\n'), 1)
    for (const { tasks } of [loop, resumed]) {
      expect(new Set(tasks.map(({ item }) => item.label)).size).toBe(tasks.length)
      expect(new Set(tasks.map(({ number }) => number)).size).toBe(tasks.length)
    }
  })

  it('the loop accepts up to a hundred added tasks, and reports the others', () => {
    const more = Array.from({ length: 5_000 }, (_, n) => `- [ ] more ${n} of it\n`).join('')
    const loop = leaves(begun('- [ ] a\n'), '1', `- [x] a\n${more}`)
    expect(loop.tasks).toHaveLength(101)
    expect(loop.notes).toEqual([
      expect.stringMatching(/^the agent of task 1 added 100 tasks.*; the loop ignores 4900 more/),
    ])
  })

  it('added tasks do not count as the user’s if the loop’s program restarts while the agent works', () => {
    const loop = begun('- [ ] a\n')
    const busy = updateTask(loop, at(loop, '1').item.key, task => ({
      ...task,
      state: { name: 'working', role: 'task', rest: null },
    }))
    const again = syncList(busy, readChecklist('- [ ] a\n- [ ] b\n'), 1)
    expect(rows(again)).toEqual(['1 a'])
    expect(rows(leaves(again, '1', '- [ ] a\n- [ ] b\n'))).toEqual(['1 a', '2 b +'])
  })
})

it('matching a long list takes one pass', () => {
  const text = Array.from({ length: 5_000 }, (_, n) => `- [ ] task ${n}\n`).join('')
  const loop = begun(text)
  const left = leaves(loop, '1', text.replaceAll('[ ]', '[x]'))
  expect(left.marksToWrite).toHaveLength(4_999)
})

it('a list that an agent has emptied leaves all tasks to be done', () => {
  const loop = leaves(begun('- [ ] a\n- [ ] b\n- [ ] c\n'), '1', 'nothing\n')
  expect(loop.tasks.map(({ item, isMissing }) => [item.label, isMissing])).toEqual([
    ['1', false],
    ['2', true],
    ['3', true],
  ])
  expect(loop.notes).toEqual(['the agent of task 1 removed tasks 2, 3 from the list'])
})
