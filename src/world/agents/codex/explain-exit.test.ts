import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { makeExitEvidence } from '../../../../testkit/agents/fixtures.ts'
import { goldenPath } from '../../../../testkit/agents/golden.ts'
import { put, tempFolder } from '../../../../testkit/agents/temp-folder.ts'
import { failedTurn } from '../shared/turn-result.ts'
import { explainExit } from './codex.ts'
import { classifyError } from './failure.ts'
import { findDeniedTool } from './denied-tool.ts'

const now = Date.parse('2026-11-15T13:00:00Z')

test.each([
  ['thread-lost', { kind: 'thread-lost', remedy: null }],
  ['unknown-option', { kind: 'setup', text: "error: unexpected argument '--full-auto' found" }],
  ['untrusted', { kind: 'setup' }],
  ['no-prompt', { kind: 'setup', text: 'No prompt provided via stdin.' }],
  ['bad-config', { kind: 'setup', text: 'Error loading config.toml:' }],
  ['no-provider', { kind: 'setup', text: 'Error: Model provider `nope` not found' }],
])('explainExit reads an exit before the turn began from stderr: %s', (name, failure) => {
  expect(explainExit(makeExitEvidence({ stderr: recorded(`${name}.stderr`) }), now)).toMatchObject({
    ok: false,
    failure,
  })
})

test('oneshot may retry a thread that another process still writes', () => {
  expect(explainExit(makeExitEvidence({ stderr: recorded('two-writers.stderr') }), now)).toBeNull()
})

test('a line about tools in its log is not a failure', () => {
  expect(explainExit(makeExitEvidence({ stderr: recorded('tool-errors.stderr') }), now)).toBeNull()
})

test('a crash has no explanation', () => {
  const exit = { kind: 'signal', signal: 'SIGKILL' } as const
  expect(explainExit(makeExitEvidence({ exit, stderr: recorded('thread-lost.stderr') }), now)).toBeNull()
})

test('an error without an end of the turn is the reason of the exit', () => {
  const memory = { error: 'Missing environment variable: `OPENAI_API_KEY`.' }
  const word = explainExit(makeExitEvidence({ memory }), now)
  expect(word).toMatchObject({ ok: false, failure: { kind: 'login', remedy: 'set OPENAI_API_KEY in the environment' } })
})

test('a turn whose writes the sandbox refused failed, whatever codex reports', () => {
  const home = tempFolder()
  const thread = '01a1df4b-7351-7e01-a545-07b98ebd207c'
  put(path.join(home, `sessions/2026/11/15/rollout-x-${thread}.jsonl`), recorded('threads/read-only.jsonl'))
  const word = { ok: true, text: 'Written.' } as const
  expect(explainExit(makeExitEvidence({ word, memory: { thread }, env: { CODEX_HOME: home } }), now)).toMatchObject({
    ok: false,
    failure: {
      kind: 'denied',
      text: 'codex was not allowed to do it: /bin/bash: line 1: made.txt: Read-only file system',
    },
  })
  expect(explainExit(makeExitEvidence({ word, memory: { thread: 'none' }, env: { CODEX_HOME: home } }), now)).toBeNull()
})

test('a patch refused by a read-only sandbox shows on stderr even without a record', () => {
  const word = { ok: true, text: 'Patched.' } as const
  const seen = explainExit(makeExitEvidence({ word, stderr: recorded('patch-rejected.stderr') }), now)
  expect(seen).toMatchObject({ ok: false, failure: { kind: 'denied' } })
})

test.each([
  ['read-only', '/bin/bash: line 1: made.txt: Read-only file system'],
  ['patch-rejected', expect.stringContaining('patch rejected: writing is blocked by read-only sandbox')],
  ['mixed', 'mkdir: cannot create directory ‘y’: Read-only file system'],
  ['outside', '/bin/bash: line 1: /home/dev/outside.txt: Read-only file system'],
  ['inside', null],
  ['long', null],
  ['killed', null],
  ['code-mode', null],
])('findDeniedTool reads the refusals in the record: %s', (name, refusal) => {
  expect(findDeniedTool(recorded(`threads/${name}.jsonl`))).toEqual(refusal)
})

test('in a workspace-write sandbox a refusal counts when no tool ran after it', () => {
  const outside = recorded('threads/outside.jsonl').trimEnd()
  const call = '{"payload":{"type":"function_call","name":"exec_command","call_id":"later"}}'
  const output = '{"payload":{"type":"function_call_output","call_id":"later","output":"Process exited with code 0"}}'
  expect(findDeniedTool(outside)).not.toBeNull()
  expect(findDeniedTool([outside, call, output].join('\n'))).toBeNull()
})

test('explainExit reads the reset time of a limit in the time zone of the session', () => {
  const message = 'You’ve hit your usage limit. Try again at 2:01 PM.'
  const word = failedTurn(classifyError(message, now, 'UTC'))
  const reset = (zone: string): unknown => explainExit(makeExitEvidence({ word, env: { TZ: zone } }), now)
  expect(reset('UTC')).toBeNull()
  expect(reset(':America/New_York')).toMatchObject({ failure: { resetAt: Date.parse('2026-11-15T14:02:00-05:00') } })
  expect(reset('CET-1CEST')).toMatchObject({ failure: { resetAt: null } })
})

function recorded(name: string): string {
  return fs.readFileSync(goldenPath(`codex/0.166.0/${name}`), 'utf8')
}
