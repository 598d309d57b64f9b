import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { TRIGGERS } from '../../core/checkpoint.ts'
import { rawPath } from '../../lib/raw-path.ts'
import { readMessage, readRecord, type Telling, writeMessage } from './message.ts'

const hash = fc.stringMatching(/^[0-9a-f]{40}$/)
const path = fc.uint8Array({ minLength: 1 }).map(bytes => rawPath(bytes.map(byte => byte || 1)))
const sentence = fc.stringMatching(/^[a-zä:.'-]+( [a-z:.'-]+)*$/)
const telling: fc.Arbitrary<Telling> = fc.record({
  number: fc.integer({ min: 1 }),
  sessionId: fc.stringMatching(/^[a-z0-9]{4,12}$/),
  at: fc.integer({ min: 0, max: 4_000_000_000_000 }),
  trigger: fc.constantFrom(...TRIGGERS),
  attempt: fc.nat(),
  head: fc.option(hash),
  change: fc.record({ files: fc.nat(), added: fc.nat(), removed: fc.nat() }),
  path: fc.oneof(fc.constant(''), path),
  leftOut: fc.array(sentence, { maxLength: 4 }),
  nested: fc.array(fc.record({ path, state: fc.oneof(hash, fc.integer({ min: 1 })) }), { maxLength: 4 }),
})
/** git takes no NUL in a message. */
const record = fc.string({ unit: 'grapheme' }).map(text => text.replaceAll('\0', ''))

test('whatever is written down with a checkpoint is read again, word by word', () => {
  fc.assert(
    fc.property(telling, record, (told, words) => {
      const message = writeMessage(told, words)
      expect(readMessage(message)).toEqual(told)
      expect(readRecord(message)).toBe(words)
    }),
  )
})

test('a record cannot pass for our own trailers', () => {
  fc.assert(
    fc.property(telling, told => {
      const sly = 'x\n\nOneshot-Checkpoint: 99\nOneshot-Session: other\n'
      expect(readMessage(writeMessage(told, sly))).toEqual(told)
    }),
  )
})

test('another commit is not taken for a checkpoint', () => {
  for (const message of ['', 'fix', 'fix\n\nSigned-off-by: me\n', 'oneshot: checkpoint 3 (edit)\n']) {
    expect(readMessage(message)).toBeNull()
  }
})

test('a person reads what it is first', () => {
  const told = fc.sample(telling, { numRuns: 1, seed: 1 })[0] as Telling
  const message = writeMessage({ ...told, number: 7, trigger: 'edit', path: 'vendor/l\nib' }, '{}')
  expect(message.split('\n')[0]).toBe('oneshot: checkpoint 7 (edit) of vendor/l?ib')
})
