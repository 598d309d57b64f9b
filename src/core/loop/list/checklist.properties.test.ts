import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { testSize } from '../../../../testkit/system/test-size.ts'
import { checklists } from '../../../../testkit/core/checklists.ts'
import { markChecklist, readChecklist } from './checklist.ts'
import type { ItemMark } from './task-list.ts'

const marksFor = (text: string, isDone: boolean, isMeant: (at: number) => boolean): ItemMark[] =>
  readChecklist(text).items.flatMap((item, at) =>
    item.isDone === isDone || !isMeant(at) ? [] : [{ key: item.key, isDone, reason: '' }],
  )
const undo = (marks: readonly ItemMark[]): ItemMark[] => marks.map(mark => ({ ...mark, isDone: !mark.isDone }))
const keysOf = (text: string): string[] => readChecklist(text).items.map(({ key }) => key)
const chosen = fc.func(fc.boolean())

test('readChecklist finds every box that is a task, and nothing else', () => {
  fc.assert(
    fc.property(checklists, ({ text, tasks, done }) => {
      const { items } = readChecklist(text)
      expect([items.length, items.filter(({ isDone }) => isDone).length]).toEqual([tasks, done])
      expect(new Set(items.map(({ key }) => key)).size).toBe(tasks)
      expect(items.map(({ label }) => label)).toEqual(items.map((_, at) => String(at + 1)))
    }),
    { numRuns: testSize(50, 200) },
  )
})

test('ticking and unticking restores the text, and in between only boxes differ', () => {
  fc.assert(
    fc.property(checklists, fc.boolean(), chosen, ({ text }, isDone, isMeant) => {
      const marks = marksFor(text, isDone, at => isMeant(at))
      const marked = markChecklist(text, marks)
      expect(boxless(marked)).toBe(boxless(text))
      expect(markChecklist(marked, undo(marks))).toBe(text)
      expect(markChecklist(marked, marks)).toBe(marked)
    }),
    { numRuns: testSize(50, 200) },
  )
})

test('markChecklist marks exactly the requested items, and the keys stay', () => {
  fc.assert(
    fc.property(checklists, chosen, ({ text }, isMeant) => {
      const marks = marksFor(text, true, at => isMeant(at))
      const keys = new Set(marks.map(({ key }) => key))
      const before = readChecklist(text).items
      const expected = before.map(item => ({ ...item, isDone: item.isDone || keys.has(item.key) }))
      expect(readChecklist(markChecklist(text, marks)).items).toEqual(expected)
    }),
  )
})

test('keys stay when somebody appends text', () => {
  fc.assert(
    fc.property(checklists, checklists, ({ text }, more) => {
      const before = keysOf(text)
      const after = keysOf(`${text}\n\n# More\n\n${more.text.replace('\ufeff', '')}`)
      expect(after.slice(0, before.length)).toEqual(before)
      expect(after).toHaveLength(before.length + more.tasks)
    }),
  )
})

test('no item waits for itself, even indirectly, nor for a missing one', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.boolean()), { maxLength: 8 }), parts => {
      const text = parts.map(([number, isList]) => `${isList ? '1.' : '-'} [ ] a (after ${number})`).join('\n')
      const left = new Map(readChecklist(text).items.map(({ key, after }) => [key, after]))
      for (let free = [...left]; free.length > 0; ) {
        free = [...left].filter(([, after]) => after.every(key => !left.has(key)))
        for (const [key] of free) left.delete(key)
      }
      expect([...left]).toEqual([])
    }),
  )
})

test('readChecklist reads any text, and markChecklist changes only boxes', () => {
  const pieces = fc.constantFrom(
    '- [ ] a',
    '[x]',
    '\n',
    '\r',
    '  ',
    '\t',
    '>',
    '<!--',
    '-->',
    '```',
    '1. ',
    '#',
    '(after 1)',
  )
  const texts = fc.array(fc.oneof(pieces, fc.string({ unit: 'binary', maxLength: 4 }))).map(parts => parts.join(''))
  fc.assert(
    fc.property(texts, text => {
      const marks = marksFor(text, true, () => true)
      expect(boxless(markChecklist(text, marks))).toBe(boxless(text))
      expect(keysOf(markChecklist(text, marks))).toEqual(keysOf(text))
    }),
    { numRuns: 1000 },
  )
})

function boxless(text: string): string {
  return text.replace(/\[[ xX]\]/g, '[?]')
}
