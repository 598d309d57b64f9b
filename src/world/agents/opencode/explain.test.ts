import fs from 'node:fs'
import { expect, test } from 'vitest'
import { endingOf } from '../../../testkit/agents/fixtures.ts'
import { goldenPath } from '../../../testkit/agents/golden.ts'
import { failing, failure } from '../last-word.ts'
import { explain } from './explain.ts'

test.each([
  ['no-thread', { kind: 'thread-lost', text: 'Error: Session not found' }],
  ['bad-config', { kind: 'setup', text: expect.stringContaining('is not valid JSON') }],
  ['unknown-option', { kind: 'setup' }],
  ['outside', { kind: 'denied', text: 'opencode was refused external_directory (/etc/*)' }],
])('an end without a word is read from stderr: %s', (name, why) => {
  expect(explain(endingOf({ stderr: said(name) }))).toMatchObject({ ok: false, failure: why })
})

test('what a subagent was refused makes a good word wrong', () => {
  const word = { ok: true, text: 'Really done.' } as const
  const exit = { kind: 'code', code: 0 } as const
  expect(explain(endingOf({ exit, word, stderr: said('subagent-refused') }))).toMatchObject({
    failure: { kind: 'denied' },
  })
  expect(explain(endingOf({ exit, word, stderr: said('no-agent') }))).toBeNull()
})

test('it may end in the midst of its work as if all were well', () => {
  const exit = { kind: 'code', code: 0 } as const
  expect(explain(endingOf({ exit, memory: { thread: 'ses_1' } }))).toMatchObject({ failure: { kind: 'empty' } })
  expect(explain(endingOf({ exit }))).toBeNull()
})

test('a crash explains nothing, and a failure of its own stays as it is', () => {
  const word = failing(failure('rate-limit', 'slow down'))
  expect(explain(endingOf({ exit: { kind: 'signal', signal: 'SIGKILL' }, stderr: said('outside') }))).toBeNull()
  expect(explain(endingOf({ word, stderr: said('outside') }))).toBeNull()
  expect(explain(endingOf({ stderr: 'Segmentation fault' }))).toBeNull()
})

function said(name: string): string {
  return fs.readFileSync(goldenPath(`opencode/1.18.33/${name}.stderr`), 'utf8')
}
