import { expect, test } from 'vitest'
import { makeExitEvidence } from '../../../../testkit/agents/fixtures.ts'
import { readAll } from '../../../../testkit/agents/read-all.ts'
import { explainExit } from './claude.ts'
import { readLine } from './parse-output.ts'

/** Claude Code 2.1.197 and 2.1.325 write these lines. */
test.each([
  ['--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons', 'setup'],
  ['No conversation found with session ID: 11111111-2222-4333-8444-555555555555', 'thread-lost'],
  ['Error: --resume requires a valid session ID or session title when used with --print. Usage: …', 'thread-lost'],
  ['Error: Session ID cc26fe50-11b2-42e0-b920-91a8555cd2b9 is already in use.', 'thread-lost'],
  ["error: unknown option '--nosuchflag'", 'setup'],
  ["error: option '--permission-mode <mode>' argument 'silly' is invalid. Allowed choices are acceptEdits…", 'setup'],
  ['Error: Settings file not found: /nosuch.json', 'setup'],
  ['Error: Invalid MCP configuration:\nMCP config file not found: /nosuch.json', 'setup'],
  ['Error: Input must be provided either through stdin or as a prompt argument when using --print', 'setup'],
  ["--agent 'nosuch' not found. Available agents: claude, Explore", 'setup'],
])('%s', (stderr, kind) => {
  const word = explainExit(makeExitEvidence({ stderr: `Warning: something else\n${stderr}\n` }))
  expect(word).toMatchObject({ ok: false, failure: { kind, text: stderr.split('\n')[0] } })
})

test('the remedy for root names three solutions', () => {
  const stderr = '--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons\n'
  const remedy = expect.stringMatching(/IS_SANDBOX=1.*--autonomy edits.*ordinary user/)
  expect(explainExit(makeExitEvidence({ stderr }))).toMatchObject({ failure: { remedy } })
})

test('an exit without a message stays a crash', () => {
  expect(explainExit(makeExitEvidence())).toBeNull()
  expect(explainExit(makeExitEvidence({ exit: { kind: 'code', code: 0 } }))).toBeNull()
  expect(explainExit(makeExitEvidence({ exit: { kind: 'signal', signal: 'SIGKILL' }, stderr: 'error: x' }))).toBeNull()
})

test('an exit does not change a turn result that the agent reported', () => {
  expect(explainExit(makeExitEvidence({ word: { ok: true, text: 'done' }, stderr: 'error: x' }))).toBeNull()
})

test('a result that waits for background tasks counts when the program exits 0 without them, and not otherwise', () => {
  const { memory, observations } = readAll(readLine, [
    { type: 'system', subtype: 'task_started', task_id: 'b1', description: 'server', task_type: 'local_bash' },
    { type: 'result', subtype: 'success', is_error: false, num_turns: 1, result: 'It runs.', permission_denials: [] },
  ])
  expect(observations.map(({ type }) => type)).not.toContain('finished')
  expect(explainExit(makeExitEvidence({ memory, exit: { kind: 'code', code: 0 } }))).toEqual({
    ok: true,
    text: 'It runs.',
  })
  expect(explainExit(makeExitEvidence({ memory, exit: { kind: 'code', code: 143 } }))).toBeNull()
})
