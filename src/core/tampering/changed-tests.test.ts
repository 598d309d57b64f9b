import { describe, expect, it } from 'vitest'
import { findChangedTests } from './changed-tests.ts'
import type { EditedFile } from './test-file.ts'

const JS =
  "import { test } from 'node:test'\nconst assert = require('node:assert')\nconst { add } = require('../src/add.js')\ntest('adds', () => {\n  assert.equal(add(1, 2), 3)\n})\n"
const PY = 'from calc import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n'
const SH = '#!/bin/sh\nset -e\n./add 1 2\n'
const RS =
  'fn add() -> u8 { 3 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() { assert_eq!(add(), 3); }\n}\n'

const change = (path: string, before: string | null, after: string | null): EditedFile => ({ path, before, after })
/** Maps each named file to true if the change only adds lines. */
const named = (...changes: EditedFile[]): Record<string, boolean> =>
  Object.fromEntries(findChangedTests(changes).map(({ path, isExtended }) => [path, isExtended]))

describe('findChangedTests finds existing tests that may prove less than before', () => {
  const cases: readonly (readonly [string, EditedFile])[] = [
    ['a test that runs only sometimes', change('a.test.js', JS, JS.replace('test(', 'if (process.env.FULL) test('))],
    ['a caught failure', change('a.test.js', JS, JS.replace(/( {2}assert.*)/, '  try { $1 } catch {}'))],
    [
      'a caught failure, by added lines alone',
      change('a.test.js', JS, JS.replace(/( {2}assert.*)/, '  try {\n$1\n  } catch {}')),
    ],
    ['another module for the assertions', change('a.test.js', JS, JS.replace('node:assert', './assert.js'))],
    ['an import under another name', change('test_a.py', PY, PY.replace('import add', 'import fake as add'))],
    ['a weaker assertion', change('a.test.js', JS, JS.replace('3)', 'add(1, 2))'))],
    [
      'an assertion that catches itself',
      change('test_a.py', PY, PY.replace(/( {4}assert.*)/, '    try:\n    $1\n    except AssertionError: pass')),
    ],
    ['a script that ignores failures', change('tests/a.sh', SH, SH.replace('set -e', 'set +e'))],
    ['a script with another last command', change('tests/a.sh', SH, `${SH}true\n`)],
    ['other expected output', change('test/expected.txt', 'one\n', 'two\n')],
    ['tests beside the code', change('src/lib.rs', RS, RS.replace('3); }', 'add()); }'))],
    ['a deleted helper', change('test/helper.js', 'exports.check = fail\n', null)],
  ]
  it.each(cases)('%s', (_, edited) => expect(named(edited)).toEqual({ [edited.path]: false }))
})

describe('findChangedTests accepts', () => {
  const more = "test('adds more', () => {\n  assert.equal(add(2, 2), 4)\n})\n"
  const cases: readonly (readonly [string, EditedFile])[] = [
    ['a test at the end', change('a.test.js', JS, JS + more)],
    ['a test in the middle', change('a.test.js', JS, JS.replace("test('adds'", `${more}test('adds'`))],
    [
      'an assertion in a test',
      change('a.test.js', JS, JS.replace(/( {2}assert.*)/, '$1\n  assert.ok(add(0, 0) === 0)')),
    ],
    ['more names from the same module', change('a.test.js', JS, JS.replace('{ add }', '{ add, sub }') + more)],
    [
      'more names over several lines',
      change('a.test.js', JS, JS.replace('{ test } from', '{\n  describe,\n  test,\n} from') + more),
    ],
    [
      'more names in Python',
      change(
        'test_a.py',
        PY,
        `${PY.replace('import add', 'import (add,\n  sub)')}\n\ndef test_b():\n    assert sub(1, 1) == 0\n`,
      ),
    ],
    ['one more case in a table', change('test/cases.json', '[\n  1\n]\n', '[\n  1,\n  2\n]\n')],
  ]
  it.each(cases)('%s', (_, edited) => expect(named(edited)).toEqual({ [edited.path]: true }))

  it('new and moved tests, tests that somebody else changed, other files and documents', () => {
    expect(named(change('b.test.js', null, JS))).toEqual({})
    expect(named(change('a.test.js', JS, null), change('b.test.js', null, JS))).toEqual({})
    expect(named(change('src/add.js', 'one\n', 'two\n'))).toEqual({})
    expect(named({ ...change('a.test.js', JS, ''), isOwn: false })).toEqual({})
    expect(named(change('specs/add.md', 'one\n', 'two\n'))).toEqual({})
    expect(named(change('src/lib.rs', RS, RS.replace('{ 3 }', '{ 1 + 2 }')))).toEqual({})
  })
})
