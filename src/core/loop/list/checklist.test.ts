import { describe, expect, test } from 'vitest'
import { markChecklist, readChecklist } from './checklist.ts'

const lines = (...all: string[]): string => all.join('\n')
const titlesIn = (...all: string[]): string[] => readChecklist(lines(...all)).items.map(({ title }) => title)
const objectionsTo = (...all: string[]): readonly string[] => readChecklist(lines(...all)).objections

/** Returns each task by its number, with the numbers of its dependencies. */
function orderIn(...all: string[]): string[] {
  const { items } = readChecklist(lines(...all))
  const labels = new Map(items.map(({ key, label }) => [key, label]))
  return items.map(({ label, after }) => [label, ...after.map(key => labels.get(key))].join(' < '))
}

/** Ticks or unticks by title. */
function mark(text: string, isDone: boolean, ...titles: string[]): string {
  const { items } = readChecklist(text)
  const meant = items.filter(({ title }) => titles.includes(title))
  return markChecklist(
    text,
    meant.map(({ key }) => ({ key, isDone, reason: '' })),
  )
}

describe('boxes', () => {
  test('a box with any mark, under any heading, is a task', () => {
    const text = lines('# PRD', '- [ ] a', '* [x] b', '', 'Part two', '---', '+ [X] c', '', '1. [ ] d', '2) [ ] e')
    expect(readChecklist(text).items.map(({ title, path, isDone }) => [title, path.join('/'), isDone])).toEqual([
      ['a', 'PRD', false],
      ['b', 'PRD', true],
      ['c', 'PRD/Part two', true],
      ['d', 'PRD/Part two', false],
      ['e', 'PRD/Part two', false],
    ])
  })

  test('a box in code, in comments, without words, or without a blank after it is no task', () => {
    const code = ['```sh', '- [ ] no', '```', '~~~', '- [ ] no', '```', '~~~', '', '    - [ ] no', '']
    expect(titlesIn(...code, '<!-- - [ ] no', '- [ ] no', '--> - [ ] no', '- [ ]', '- [ ]no', '-[ ] no')).toEqual([])
    expect(objectionsTo('a', '', '- [ ] ')).toEqual(['line 3 has a box without text: the loop ignores it'])
  })

  test('a box after code that ends with its item, or after a comment that is never closed, is a task', () => {
    expect(titlesIn('- [ ] a', '  ```', '  - [ ] no', '- [ ] b')).toEqual(['a', 'b'])
    expect(titlesIn('- [ ] read `<!--` and <!-- more', '', '<!-- what', '- [ ] b')).toEqual([
      'read `<!--` and <!-- more',
      'b',
    ])
  })

  test('a box does not belong to front matter for other programs', () => {
    const { items } = readChecklist(lines('---', 'title: x', '---', '- [ ] a', '---', '', '- [ ] b'))
    expect(items.map(({ title, path }) => [...path, title])).toEqual([['a'], ['b']])
  })

  test('a box may stand in a quotation, and after another mark on its line', () => {
    expect(titlesIn('> - [ ] a', '>   - [ ] b', 'words', '1. - [ ] c')).toEqual(['b', 'c'])
  })

  test('a box with boxes below it is no task, but their parent', () => {
    const { items } = readChecklist(lines('- [ ] a', '  - b', '\t- [ ] c <!-- hint -->', '      - plain', '- [ ] d'))
    expect(items.map(({ title, path, body }) => ({ title, path, body }))).toEqual([
      { title: 'c', path: ['a', 'b'], body: '- plain' },
      { title: 'd', path: [], body: '' },
    ])
  })

  test('the body of a box is all its content, without its indentation', () => {
    const text = lines(
      '1. [ ] a',
      'goes on',
      '',
      '   More.',
      '   - x',
      '',
      '     ```',
      '      - [ ] y',
      '     ```',
      '',
      'Not.',
    )
    expect(readChecklist(text).items[0]?.body).toBe('goes on\n\nMore.\n- x\n\n  ```\n   - [ ] y\n  ```')
  })
})

describe('order', () => {
  test('numbers state an order: each item waits for all of the one before it', () => {
    expect(
      orderIn('1. [ ] a', '2. [ ] b', '   - [ ] c', '   - [ ] d', '3. [ ] e', '', 'words', '', '1. [ ] f'),
    ).toEqual(['1', '2 < 1', '3 < 1', '4 < 2 < 3', '5'])
  })

  test('a note at the end of a title or in a comment states an order, by numbers and titles, for all items below as well', () => {
    expect(
      orderIn(
        '# Base',
        '- [ ] a (after 2 and 3)',
        '- [ ] b <!-- after: "C, or so" -->',
        '- [ ] C, or so',
        '- [ ] d (depends on: #1, b)',
        '  - [ ] e',
        '# More (after: "base")',
        '- [ ] f',
      ),
    ).toEqual(['1 < 2 < 3', '2 < 3', '3', '4 < 1 < 2', '5 < 1 < 2 < 3 < 4'])
  })

  test('groups state an order: each waits for all lower ones, and items without a group wait for none', () => {
    expect(
      orderIn('- [ ] a <!-- group: 1 -->', '- [ ] b <!-- group: 1 -->', '- [ ] c', '## d <!-- group: 3 -->', '- [ ] e'),
    ).toEqual(['1', '2', '3', '4 < 1 < 2'])
  })

  test('readChecklist objects to an order that it cannot follow', () => {
    expect(objectionsTo('- [ ] a (after 7)', '- [ ] b (after 2)', '- [ ] c (after the release)')).toEqual([
      'task 1 (a) cannot wait for “7”, which is not in the list',
      'task 2 (b) cannot wait for itself',
      'task 3 (c) cannot wait for “the release”, which is not in the list',
    ])
    const circle = ['1. [ ] a (after 3)', '2. [ ] b', '3. [ ] c']
    expect(orderIn(...circle)).toEqual(['1 < 3', '2', '3 < 2'])
    expect(objectionsTo(...circle)).toEqual([
      'task 2 (b) and task 1 (a) wait for each other: the loop lets the first start without the second',
    ])
  })
})

describe('keys', () => {
  const keys = (...all: string[]): string[] => readChecklist(lines(...all)).items.map(({ key }) => key)

  test('a key stays when somebody ticks boxes, edits notes, and adds or removes others', () => {
    expect(keys('# P', '- [x] a (after 2)', '- [ ] b')).toEqual(keys('# P', '* [ ] a  <!-- x -->', '- [ ] b (after 1)'))
    expect(keys('# P', '- [ ] new', '', '- [ ] a')[1]).toBe(keys('# P', '- [ ] a')[0])
  })

  test('items with the same title have different keys', () => {
    expect(new Set(keys('- [ ] a', '- [ ] a', '# P', '- [ ] a')).size).toBe(3)
  })
})

describe('marks', () => {
  const text = '\ufeff- [ ] a\r\n  - [ ] b \r\n\t- [X] c\r\n- [ ] d\r- [x] \udcff'

  test('markChecklist ticks a parent with the last of its boxes, and unticks it with the first', () => {
    const flat = lines('- [ ] a', '  - [ ] b', '  - [X] c')
    const ticked = mark(flat, true, 'b')
    expect(ticked).toBe(lines('- [x] a', '  - [x] b', '  - [X] c'))
    expect(mark(ticked, false, 'c')).toBe(lines('- [ ] a', '  - [x] b', '  - [ ] c'))
  })

  test('markChecklist changes no other byte, and skips missing items', () => {
    expect(mark(text, true, 'd')).toBe(text.replace('[ ] d', '[x] d'))
    expect(markChecklist(text, [{ key: 'gone', isDone: true, reason: '' }])).toBe(text)
  })

  test('markChecklist leaves items that already have the mark', () => {
    expect(mark(lines('- [X] a', '- [ ] b'), true, 'a')).toBe(lines('- [X] a', '- [ ] b'))
  })
})

test.each([
  ['groups', Array.from({ length: 4_000 }, (_, n) => `- [ ] t${n} <!-- group: ${n % 2} -->\n`).join('')],
  ['numbers', `1. a\n${'   - [ ] x\n'.repeat(2_000)}2. b\n${'   - [ ] y\n'.repeat(2_000)}`],
  ['a heading', `${'- [ ] t (after "H")\n'.repeat(2_000)}# H\n${'- [ ] y\n'.repeat(2_000)}`],
])('tasks that would wait for millions of others by %s wait for a few of them, and the list says so', (_, text) => {
  const { items, objections } = readChecklist(text)
  expect(items.reduce((sum, { after }) => sum + after.length, 0)).toBeLessThan(1_100_000)
  expect(items.filter(({ after }) => after.length > 0)).toHaveLength(2_000)
  expect(objections).toEqual([expect.stringContaining('tasks wait for too many others')])
})

test('the list reports only the first of many objections', () => {
  expect(readChecklist(`- [ ] a\n${'- [ ]\n'.repeat(5_000)}`).objections).toHaveLength(21)
})
