import { expect, test } from 'vitest'
import { makeExitEvidence } from '../../../../testkit/agents/fixtures.ts'
import { explainExit } from './pi.ts'

test.each([
  ['thread-lost', 1, "No session found matching '01a1df4c'"],
  [
    'thread-lost',
    0,
    'Session found in different project: /srv\nFork this session into current directory? [y/N] Aborted.',
  ],
  ['login', 1, 'No API key found for anthropic.\n\nUse /login to log into a provider via OAuth or API key. See:\n'],
  ['login', 1, '\u001b[31mNo models available. Use /login to log into a provider\u001b[39m'],
  ['setup', 1, 'Error: Unknown option: --nonsense'],
  ['setup', 1, 'Warning: old\nError: Model "x/y" not found. Use --list-models to see available models.'],
  ['setup', 1, 'Error: --session-id cannot be combined with --session'],
  ['setup', 1, "SyntaxError: The requested module 'node:module' does not provide an export named 'enableCompileCache'"],
])('%s: exit %i and %s', (kind, code, stderr) => {
  const word = explainExit(makeExitEvidence({ exit: { kind: 'code', code }, stderr }))
  expect(word).toMatchObject({ ok: false, failure: { kind } })
})

test('explainExit returns the message without its prefix', () => {
  expect(explainExit(makeExitEvidence({ stderr: 'Error: Unknown option: -zz\n' }))?.text).toBe('Unknown option: -zz')
})

test('explainExit ignores an ended turn, a death by signal and other messages', () => {
  const complaint = "No session found matching 'x'"
  expect(explainExit(makeExitEvidence({ stderr: complaint, word: { ok: true, text: 'done' } }))).toBeNull()
  expect(explainExit(makeExitEvidence({ exit: { kind: 'signal', signal: 'SIGKILL' }, stderr: complaint }))).toBeNull()
  expect(explainExit(makeExitEvidence({ stderr: 'ENOSPC: no space left on device' }))).toBeNull()
})
