import { expect, test } from 'vitest'
import { refusal } from '../../api/contract/problems.ts'
import { Trouble } from '../../lib/errors.ts'
import { makePaint } from './colors.ts'
import type { Screen } from './command-streams.ts'
import { printError } from './print-error.ts'

/** Records the printed lines. */
function capture(cause: unknown, options: { json: boolean; debug: boolean }) {
  const out: string[] = []
  const err: string[] = []
  const outlet = (lines: string[]) => ({ paint: makePaint(false), printLine: (text: string) => void lines.push(text) })
  const code = printError(cause, { out: outlet(out), err: outlet(err) } as unknown as Screen, options)
  return { code, out, err }
}

const plain = { json: false, debug: false }

test('a refusal prints a sentence and a hint on stderr, and has the exit code of its kind', () => {
  expect(capture(refusal('no-session', 'there is no session "x"', 'oneshot list'), plain)).toEqual({
    code: 3,
    out: [],
    err: ['error: there is no session "x"', 'hint: oneshot list'],
  })
})

test('with --json a refusal prints a document on stdout', () => {
  const { code, out, err } = capture(refusal('usage', 'no'), { json: true, debug: false })
  expect([code, JSON.parse(out.join('')), err]).toEqual([2, { error: { code: 'usage', message: 'no' } }, []])
})

test('an unexpected error prints one sentence without a stack, and a way to see more', () => {
  const { code, err } = capture(new TypeError('x is not a function'), plain)
  expect([code, err]).toEqual([1, ['error: x is not a function', expect.stringContaining('ONESHOT_DEBUG=1')]])
  expect(capture(new Trouble('opening a pane', 'tmux is gone'), plain).err[0]).toBe(
    'error: opening a pane: tmux is gone',
  )
})

test('ONESHOT_DEBUG prints the stack', () => {
  expect(capture(new Error('oh'), { json: false, debug: true }).err[0]).toContain('print-error.test.ts')
})

test('a quoted text in a message cannot move the cursor', () => {
  expect(capture(refusal('usage', 'odd \u001b[2Jname'), plain).err[0]).toBe('error: odd name')
})
