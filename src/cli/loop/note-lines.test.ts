import { describe, expect, it, test } from 'vitest'
import { displayWidth } from '../../lib/text/display-width.ts'
import { hasCommand, noteLines } from './note-lines.ts'

const QUOTED =
  'the agent of task 3 dropped a stash of yours: `git stash store 0123456789abcdef0123456789abcdef01234567 -m "a long message"` brings it back'
const BARE =
  'the agent of task 2 left its worktree and moved main in your checkout from 0123456789 to 9876543210: git reset --keep 0123456789 brings it back'

const render = (text: string, width: number, isWrapped = false): string[] =>
  noteLines('note', text, { width, isWrapped })

describe('a note that is wider than the terminal', () => {
  it('has its command on a line of its own, in full', () => {
    expect(render(QUOTED, 80)).toEqual([
      '  note: the agent of task 3 dropped a stash of yours:',
      '          git stash store 0123456789abcdef0123456789abcdef01234567 -m "a long message"',
      '        brings it back',
    ])
    expect(render(BARE, 60)).toEqual([
      '  note: the agent of task 2 left its worktree and moved main',
      '        in your checkout from 0123456789 to 9876543210:',
      '          git reset --keep 0123456789',
      '        brings it back',
    ])
  })

  it.each([20, 40, 60, 80, 120])(
    'fits into %i columns and loses no character where a board is redrawn in place',
    width => {
      for (const text of [QUOTED, BARE, `字${'字'.repeat(200)} end`]) {
        const lines = render(text, width, true)
        expect(lines.filter(line => displayWidth(line) > width)).toEqual([])
        expect(lines.join('').replace(/\s/g, '')).toBe(`note:${text}`.replace(/[\s`]/g, ''))
      }
    },
  )
})

test('a note that fits stays on one line, with its quotes', () => {
  expect(render('`git status` shows it', 80)).toEqual(['  note: `git status` shows it'])
  expect(render(QUOTED, Number.POSITIVE_INFINITY)).toEqual([`  note: ${QUOTED}`])
})

test.each([
  ['it is on a branch: git merge 0123456789', true],
  ['`cp a b` brings it back', true],
  ['the check fails: npm test: exit code 1 after 2 s', false],
  ['git is missing', false],
])('hasCommand recognises a command in “%s”: %s', (text, expected) => {
  expect(hasCommand(text)).toBe(expected)
})
