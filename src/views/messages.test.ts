import fs from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { create } from '../core/create.ts'
import type { Session } from '../core/session.ts'
import { step } from '../core/step.ts'
import { specOf } from '../testkit/memory/stage.ts'
import { type TempHome, tempHome } from '../testkit/real/temp-home.ts'
import { sessionFolder } from '../world/os/folders.ts'
import { mirrorTo } from '../world/store/mirror.ts'
import { openStore } from '../world/store/sqlite-store.ts'
import { readMessage, readMessages } from './messages.ts'
import { unknownOutput } from './unknown-output.ts'

let temp: TempHome
beforeEach(() => {
  temp = tempHome()
})
afterEach(() => temp.noLeaks())

function record(id: string, traits: Partial<Session>): void {
  fs.mkdirSync(sessionFolder(temp.home, id).messages, { recursive: true })
  const store = openStore(temp.home.database, mirrorTo(temp.home))
  const { session } = create(specOf({ agent: 'mute', id }), { hasPrompt: true })
  store.record(step({ ...session, ...traits }, []))
  store.close()
}

test('messages are read from disk, each in the state it has reached', () => {
  const message = { key: 'k', gist: 'a gist', acceptedAt: 1_000, deliveredAt: 2_000, confirmedAt: 3_000 }
  const messages = [
    { ...message, id: 1 },
    { ...message, id: 2, confirmedAt: null },
    { ...message, id: 3, deliveredAt: null, confirmedAt: null },
  ]
  record('aaaaaaaaaa', { messages })
  expect(readMessages(temp.home, 'aaaaaaaaaa').map(({ number, state }) => [number, state])).toEqual([
    [1, 'confirmed'],
    [2, 'delivered'],
    [3, 'accepted'],
  ])
  expect(readMessages(temp.home, 'bbbbbbbbbb')).toEqual([])
})

test('the first message is the prompt, and all are told byte for byte', () => {
  record('aaaaaaaaaa', {})
  const { prompt, messages } = sessionFolder(temp.home, 'aaaaaaaaaa')
  fs.writeFileSync(prompt, Buffer.from([0x68, 0x00, 0xff]))
  fs.writeFileSync(`${messages}/2`, 'more')
  expect(readMessage(temp.home, 'aaaaaaaaaa', 1)).toEqual(Buffer.from([0x68, 0x00, 0xff]))
  expect(readMessage(temp.home, 'aaaaaaaaaa', 2)).toEqual(Buffer.from('more'))
})

test('what was not understood is counted over all sessions', () => {
  record('aaaaaaaaaa', { unknown: ['system/foo', 'bar'] })
  record('bbbbbbbbbb', { unknown: ['system/foo'] })
  expect(unknownOutput(temp.home)).toEqual([
    { agent: 'mute', what: 'system/foo', sessions: 2 },
    { agent: 'mute', what: 'bar', sessions: 1 },
  ])
})
