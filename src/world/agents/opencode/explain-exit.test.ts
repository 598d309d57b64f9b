import fs from 'node:fs'
import { expect, test } from 'vitest'
import { makeExitEvidence } from '../../../../testkit/agents/fixtures.ts'
import { goldenPath } from '../../../../testkit/agents/golden.ts'
import { failedTurn, makeFailure } from '../shared/turn-result.ts'
import { explainExit } from './opencode.ts'

test.each([
  ['no-thread', { kind: 'thread-lost', text: 'Error: Session not found' }],
  ['bad-config', { kind: 'setup', text: expect.stringContaining('is not valid JSON') }],
  ['unknown-option', { kind: 'setup' }],
  ['outside', { kind: 'denied', text: 'opencode was refused external_directory (/etc/*)' }],
])('explainExit reads an exit without a turn result from stderr: %s', (name, why) => {
  expect(explainExit(makeExitEvidence({ stderr: said(name) }))).toMatchObject({ ok: false, failure: why })
})

test("a refusal of a subagent's call turns a reported success into a failure", () => {
  const word = { ok: true, text: 'Really done.' } as const
  const exit = { kind: 'code', code: 0 } as const
  expect(explainExit(makeExitEvidence({ exit, word, stderr: said('subagent-refused') }))).toMatchObject({
    failure: { kind: 'denied' },
  })
  expect(explainExit(makeExitEvidence({ exit, word, stderr: said('no-agent') }))).toBeNull()
})

test('opencode may exit 0 in the middle of its work', () => {
  const exit = { kind: 'code', code: 0 } as const
  expect(explainExit(makeExitEvidence({ exit, memory: { thread: 'ses_1' } }))).toMatchObject({
    failure: { kind: 'empty' },
  })
  expect(explainExit(makeExitEvidence({ exit }))).toBeNull()
})

test('a crash has no explanation, and a reported failure stays unchanged', () => {
  const word = failedTurn(makeFailure('rate-limit', 'slow down'))
  expect(
    explainExit(makeExitEvidence({ exit: { kind: 'signal', signal: 'SIGKILL' }, stderr: said('outside') })),
  ).toBeNull()
  expect(explainExit(makeExitEvidence({ word, stderr: said('outside') }))).toBeNull()
  expect(explainExit(makeExitEvidence({ stderr: 'Segmentation fault' }))).toBeNull()
})

function said(name: string): string {
  return fs.readFileSync(goldenPath(`opencode/1.18.33/${name}.stderr`), 'utf8')
}
