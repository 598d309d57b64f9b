import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ItemMark } from '../../core/loop/list/task-list.ts'
import { markYaml, readYaml } from './yaml-tasks.ts'

const lines = (...all: string[]): string => all.map(line => `${line}\n`).join('')
const marksFor = (text: string, isDone: boolean): ItemMark[] =>
  readYaml(text)
    .items.filter(item => item.isDone !== isDone)
    .map(({ key }) => ({ key, isDone, reason: '' }))
const ticked = (text: string): string => markYaml(text, marksFor(text, true))

describe('readYaml', () => {
  test('reads a list of tasks at the top or under a key, with all accepted field names', () => {
    const entries = ['- title: a', '  description: |', '    more', '    words', '- {name: b, done: true}', '- task: c']
    const text = lines(...entries, '  status: completed')
    const expected = [
      { label: '1', title: 'a', body: 'more\nwords', isDone: false },
      { label: '2', title: 'b', body: '', isDone: true },
      { label: '3', title: 'c', body: '', isDone: true },
    ]
    expect(readYaml(text)).toMatchObject({ items: expected, objections: [] })
    expect(readYaml(`project: x\ntasks:\n${text}`)).toMatchObject({ items: expected, objections: [] })
  })

  test('orders tasks by groups, ids, titles and numbers', () => {
    const { items, objections } = readYaml(
      lines(
        'tasks:',
        '- {title: a, id: setup, parallel_group: 1}',
        '- {title: b, group: 2}',
        '- {title: c, depends_on: [setup, b]}',
        '- {title: d, after: 2}',
        '- {title: e, after: [nobody]}',
      ),
    )
    const labels = new Map(items.map(({ key, label }) => [key, label]))
    expect(items.map(({ after }) => after.map(key => labels.get(key)))).toEqual([[], ['1'], ['1', '2'], ['2'], []])
    expect(objections).toEqual(['task 5 (e) cannot wait for “nobody”, which is not in the list'])
  })

  test('reports the position of a syntax error and of entries that are not tasks', () => {
    expect(() => readYaml('- title: [\n- b: c\n')).toThrow(/^line 2, column 1: Flow sequence .* end with a \]$/)
    expect(readYaml('- title: a\n- just words\n- &x {done: false}\n- *x\n').objections).toEqual([
      'line 2, column 3: an entry without a title is no task; write “- title: …”',
      'line 3, column 6: an entry without a title is no task; write “- title: …”',
      'line 4, column 3: an alias is no task of its own',
    ])
    expect(() => readYaml('- a: 1\n- title: *x\n')).toThrow('line 2, column 3: ')
    expect(readYaml('just words')).toEqual({ items: [], objections: [] })
  })
})

describe('markYaml', () => {
  test.each([
    ['- title: a\n  completed: false # not yet\n', '- title: a\n  completed: true # not yet\n'],
    ['- title: a\r\n  done: "False"', '- title: a\r\n  done: "True"'],
    ['- title: a\n  completed:\n  x: 1\n', '- title: a\n  completed: true\n  x: 1\n'],
    [
      '- title: a\n  status: todo\n- title: b\n  status: completed\n',
      '- title: a\n  status: completed\n- title: b\n  status: completed\n',
    ],
    [
      '- title: a # first\r\n  x: |\r\n    done: false\r\n',
      '- title: a # first\r\n  completed: true\r\n  x: |\r\n    done: false\r\n',
    ],
    ['tasks:\n    -   title: a', 'tasks:\n    -   title: a\n        completed: true'],
    ['- title: >\n    a\n    b\n', '- completed: true\n  title: >\n    a\n    b\n'],
    [
      '[{"title": "a", "id": 1}, {title: b}]',
      '[{"title": "a", "completed": true, "id": 1}, {title: b, completed: true}]',
    ],
    ['- title: \udcff\n', '- title: \udcff\n  completed: true\n'],
    ['- title: a\n  done: false\n  status: open\n', '- title: a\n  done: true\n  status: done\n'],
  ])('marks %j and changes nothing else', (before, after) => {
    expect(ticked(before)).toBe(after)
  })

  test('refuses a mark that would change another task as well', () => {
    const text = '- {title: a, done: &no false}\n- {title: b, done: *no}\n'
    const [mark] = marksFor(text, true)
    expect(() => markYaml(text, [mark as ItemMark])).toThrow('“a” cannot be marked without changing something else')
  })
})

const value = fc.constantFrom('false', 'False', 'FALSE', 'no', '"off"', "'false'")
const entry = fc.record({
  title: fc.constantFrom('a', 'b c', '"q: é"', "'it''s'", '\udcffx', '12'),
  done: fc.option(fc.tuple(fc.constantFrom('completed', 'done'), value)),
  more: fc.array(fc.constantFrom('x: 1', '# done: false', 'description: "- [ ] \\" no"', 'y: [1, {a: b}]'), {
    maxLength: 2,
  }),
  isFlow: fc.boolean(),
  isFirst: fc.boolean(),
})
const files = fc
  .record({
    entries: fc.array(entry, { maxLength: 6 }),
    end: fc.constantFrom('\n', '\r\n'),
    indent: fc.nat(4),
    isLast: fc.boolean(),
  })
  .map(({ entries, end, indent, isLast }) => {
    const blank = ' '.repeat(indent)
    const written = entries.map(({ title, done, more, isFlow, isFirst }) => {
      const fields = [`title: ${title}`, ...(done === null ? [] : [`${done[0]}: ${done[1]}`])]
      if (isFlow) return `${blank}- { ${fields.join(' , ')} }  # more`
      const inOrder = isFirst ? [...fields, ...new Set(more)] : fields.toReversed().concat(...new Set(more))
      return `${blank}- ${inOrder.join(`${end}${blank}  `)}`
    })
    const text = ['# Tasks', 'tasks:', ...written].join(end) + (isLast ? end : '')
    return { text, count: entries.length, hasFields: entries.every(({ done }) => done !== null) }
  })

test('for any file, the reader finds all tasks, marking keeps keys and bytes, and unmarking restores them', () => {
  fc.assert(
    fc.property(files, fc.func(fc.boolean()), ({ text, count, hasFields }, isMeant) => {
      const before = readYaml(text).items
      expect(before).toHaveLength(count)
      const marks = marksFor(text, true).filter(({ key }) => isMeant(key))
      const marked = markYaml(text, marks)
      const keys = marks.map(({ key }) => key)
      expect(readYaml(marked).items).toEqual(before.map(item => ({ ...item, isDone: keys.includes(item.key) })))
      const back = markYaml(
        marked,
        marks.map(mark => ({ ...mark, isDone: false })),
      )
      expect(readYaml(back).items).toEqual(before)
      if (hasFields) expect(back).toBe(text)
      else expect(linesOf(marked)).toEqual(expect.arrayContaining(linesOf(text).filter(line => !isMark(line))))
    }),
    { numRuns: 200 },
  )
})

test('for any text, the reader succeeds or throws a sentence', () => {
  const pieces = fc.constantFrom(
    '- ',
    'title: ',
    'a',
    '\n',
    '  ',
    '{',
    '}',
    '[',
    ']',
    '&a ',
    '*a',
    '|',
    '"',
    ': ',
    'tasks:',
    '---',
    '!!x ',
  )
  fc.assert(
    fc.property(fc.array(pieces), parts => {
      try {
        ticked(parts.join(''))
      } catch (cause) {
        expect(String(cause)).toMatch(/^Error: .*(?:line \d+, column \d+: .+|cannot be marked)/)
      }
    }),
    { numRuns: 1000 },
  )
})

const linesOf = (text: string): string[] => text.split(/\r?\n/)
const isMark = (line: string): boolean => /completed|done|title/.test(line)
