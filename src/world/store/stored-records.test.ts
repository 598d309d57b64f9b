import { expect, test } from 'vitest'
import { createSession } from '../../core/session/create.ts'
import { PHASES } from '../../../testkit/core/arbitrary.ts'
import { makeSpec } from '../../../testkit/in-memory/simulation.ts'
import {
  decodeEffect,
  decodeEvent,
  decodeNotice,
  decodeSession,
  encodeSession,
  isNewerRecord,
} from './stored-records.ts'

const { session } = createSession(makeSpec({ agent: 'talker' }), { hasPrompt: true })

test.each(Object.values(PHASES))('a session in the phase $name is read as it was written', phase => {
  expect(decodeSession(encodeSession({ ...session, phase }))).toEqual({ ...session, phase })
})

test.each([
  ['no JSON', '{"spec": {'],
  ['no object', '[]'],
  ['no id', JSON.stringify({ ...session, spec: { ...session.spec, id: 7 } })],
  ['a phase that nobody knows', JSON.stringify({ ...session, phase: { name: 'flying' } })],
])('a record with %s is damaged, not newer', (_, text) => {
  expect(() => decodeSession(text)).toThrow('reading the record of a session: ')
  expect(isNewerRecord(caught(() => decodeSession(text)))).toBe(false)
})

test('the error about a record of a newer version names that version', () => {
  const read = (): unknown => decodeSession(JSON.stringify({ version: 99 }))
  expect(read).toThrow('a newer oneshot wrote it (version 99')
  expect(isNewerRecord(caught(read))).toBe(true)
})

test('events, effects and notices have a known outline', () => {
  expect(decodeEvent('{"at":1,"type":"session.woken"}')).toEqual({ at: 1, type: 'session.woken' })
  expect(decodeEffect('{"type":"launch","attempt":1}')).toEqual({ type: 'launch', attempt: 1 })
  expect(() => decodeEvent('{"type":"session.woken"}')).toThrow('in at')
  expect(() => decodeEffect('{"type":"format-disk"}')).toThrow('in type')
  expect(() => decodeNotice('{"id":"x"}')).toThrow('in kind')
})

function caught(action: () => unknown): unknown {
  try {
    return action()
  } catch (cause) {
    return cause
  }
}
