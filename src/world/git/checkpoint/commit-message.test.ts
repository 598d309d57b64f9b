import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { testSessionId } from '../../../../testkit/core/ids.ts'
import { CHECKPOINT_TRIGGERS } from '../../../core/checkpoint/checkpoint.ts'
import { encodeRawPath, rawPath } from '../../../lib/text/raw-path.ts'
import { parseMessage, parseRecord, type CheckpointTrailers, formatMessage } from './commit-message.ts'
import { isTreePath } from '../is-safe-tree-path.ts'

const hash = fc.stringMatching(/^[0-9a-f]{40}$/)
const path = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  .map(text => rawPath(Buffer.from(text)))
  .filter(isTreePath)
const sentence = fc.stringMatching(/^[a-zä:.'-]+( [a-z:.'-]+)*$/)
const anyTrailers: fc.Arbitrary<CheckpointTrailers> = fc.record({
  number: fc.integer({ min: 1 }),
  sessionId: fc.stringMatching(/^[a-z0-9]{4,12}$/).map(testSessionId),
  at: fc.integer({ min: 0, max: 4_000_000_000_000 }),
  trigger: fc.constantFrom(...CHECKPOINT_TRIGGERS),
  attempt: fc.nat(),
  head: fc.option(hash),
  change: fc.record({ files: fc.nat(), added: fc.nat(), removed: fc.nat() }),
  path: fc.oneof(fc.constant(''), path),
  leftOut: fc.array(sentence, { maxLength: 4 }),
  claim: fc.record({
    term: fc.integer({ min: 2, max: 1000 }),
    sessionId: fc.stringMatching(/^[a-z0-9]{4,12}$/).map(testSessionId),
    host: fc.stringMatching(/^[a-z0-9.-]{1,20}$/),
  }),
  nested: fc.array(
    fc.oneof(
      fc.record({ path, state: fc.oneof(hash, fc.integer({ min: 1 })) }),
      fc.record({ path, state: hash, isHeadOnly: fc.constant(true as const) }),
    ),
    { maxLength: 4 },
  ),
})
/** git accepts no NUL byte in a message. */
const record = fc.string({ unit: 'grapheme' }).map(text => text.replaceAll('\0', ''))

test('the parser returns every value that the formatter wrote', () => {
  fc.assert(
    fc.property(anyTrailers, record, (trailers, text) => {
      const message = formatMessage(trailers, text)
      expect(parseMessage(message)).toEqual(trailers)
      expect(parseRecord(message)).toBe(text)
    }),
  )
})

test('the parser ignores trailers that a record imitates', () => {
  fc.assert(
    fc.property(anyTrailers, trailers => {
      const forgedRecord = 'x\n\nOneshot-Checkpoint: 99\nOneshot-Session: other\n'
      expect(parseMessage(formatMessage(trailers, forgedRecord))).toEqual(trailers)
    }),
  )
})

test('the parser returns null for a commit that is not a checkpoint', () => {
  for (const message of ['', 'fix', 'fix\n\nSigned-off-by: me\n', 'oneshot: checkpoint 3 (edit)\n']) {
    expect(parseMessage(message)).toBeNull()
  }
})

test('the subject line names the checkpoint for a person', () => {
  const trailers = fc.sample(anyTrailers, { numRuns: 1, seed: 1 })[0] as CheckpointTrailers
  const message = formatMessage({ ...trailers, number: 7, trigger: 'edit', path: 'vendor/l\nib', nested: [] }, '{}')
  expect(message.split('\n')[0]).toBe('oneshot: checkpoint 7 (edit) of vendor/l?ib')
})

const HASH = 'a'.repeat(40)

function forged(changes: Readonly<Record<string, string>>, more = ''): string {
  const trailers = {
    Checkpoint: '3',
    Session: 'abc',
    At: '2026-01-01T00:00:00.000Z',
    Attempt: '1',
    Head: HASH,
    ...changes,
  }
  const lines = Object.entries(trailers).map(([key, value]) => `Oneshot-${key}: ${value}\n`)
  return `oneshot: checkpoint 3 (edit)\n\n{}\n\n${lines.join('')}${more}`
}

test.each([
  ['Session', '../../../..', 'a/b', 'A', 'a b', '', 'x'.repeat(21), 'a\u200c'],
  ['Head', '--output=/tmp/x', 'HEAD', 'abc', '-', '', HASH.toUpperCase()],
  ['At', 'never', '', '275760-09-13T00:00:00.001Z', '-1', '+275760-09-13T00:00:00.000Z', '1960-01-01T00:00:00.000Z'],
  ['Checkpoint', '0', '-1', '1e9', '99999999999', 'NaN', '0x10', ''],
  ['Attempt', '-1', 'x', ''],
  [
    'Path',
    '/etc',
    '../x',
    'a/../../b',
    'a//b',
    '.git/hooks',
    'a/.GIT',
    '.git%20',
    'git~1',
    '.g%e2%80%8cit',
    '%00',
    'a%0ab',
    '%ff',
  ],
])('the parser rejects a message with a forged %s', (key, ...values) => {
  expect(parseMessage(forged({}))).toMatchObject({ number: 3, sessionId: 'abc', head: HASH })
  for (const value of values) expect([value, parseMessage(forged({ [key]: value }))]).toEqual([value, null])
})

test.each([
  '/root/.ssh',
  '..',
  'a/../..',
  '.',
  './x',
  '.git',
  'x/.Git/hooks',
  '.git.',
  '.git::$INDEX_ALLOCATION',
  'a\\.git',
  'GIT~1',
  '',
])('the parser drops a nested repository at %j', path => {
  const nested = `Oneshot-Nested: ${encodeRawPath(rawPath(Buffer.from(path)))} commit ${HASH}\n`
  expect(parseMessage(forged({}, `${nested}Oneshot-Nested: sub commit ${HASH}\n`))?.nested).toEqual([
    { path: 'sub', state: HASH },
  ])
})

test('the parser checks nested states, and strips control characters from sentences', () => {
  const nested = ['sub commit --help', 'sub commit HEAD', 'sub checkpoint -1', 'sub', `sub commit ${HASH} x`]
  const lines = nested.map(value => `Oneshot-Nested: ${value}\n`).join('')
  const sentences = `Oneshot-Left-Out: a\u001b]0;t\u0007b\n`.repeat(100)
  const read = parseMessage(forged({}, lines + sentences))
  expect(read?.nested).toEqual([])
  expect(read?.leftOut).toEqual(Array.from({ length: 20 }, () => 'ab'))
})
