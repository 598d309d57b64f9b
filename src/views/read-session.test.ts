import fs from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testSessionId } from '../../testkit/core/ids.ts'
import { createSession } from '../core/session/create.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Session } from '../core/session/session-state.ts'
import { makeDecision } from '../core/session/decision.ts'
import { makeSpec } from '../../testkit/in-memory/simulation.ts'
import { type TempHome, tempHome } from '../../testkit/system/temp-home.ts'
import { sessionFolder } from '../state/session-folder.ts'
import { createMirror } from '../world/store/mirror.ts'
import { openStore } from '../world/store/sqlite-store.ts'
import { countUnknownOutput, readEventViews, readMessage, readMessages, watchEvents } from './read-session.ts'

let temp: TempHome
beforeEach(() => {
  temp = tempHome()
})
afterEach(() => temp.assertNoLeaks())

function record(id: SessionId, traits: Partial<Session>): void {
  fs.mkdirSync(sessionFolder(temp.home, id).messages, { recursive: true })
  const store = openStore(temp.home.database, createMirror(temp.home))
  const { session } = createSession(makeSpec({ agent: 'mute', id }), { hasPrompt: true })
  store.record(makeDecision({ ...session, ...traits }, []))
  store.close()
}

test('readMessages reads messages from disk, each with its state', () => {
  const message = { key: 'k', summary: 'a summary', acceptedAt: 1_000, deliveredAt: 2_000, confirmedAt: 3_000 }
  const messages = [
    { ...message, id: 1 },
    { ...message, id: 2, confirmedAt: null },
    { ...message, id: 3, deliveredAt: null, confirmedAt: null },
  ]
  record(testSessionId('aaaaaaaaaa'), { messages })
  expect(readMessages(temp.home, testSessionId('aaaaaaaaaa')).map(({ number, state }) => [number, state])).toEqual([
    [1, 'confirmed'],
    [2, 'delivered'],
    [3, 'accepted'],
  ])
  expect(readMessages(temp.home, testSessionId('bbbbbbbbbb'))).toEqual([])
})

test('readMessage returns every message byte for byte, and the prompt as the first', () => {
  record(testSessionId('aaaaaaaaaa'), {})
  const { prompt, messages } = sessionFolder(temp.home, testSessionId('aaaaaaaaaa'))
  fs.writeFileSync(prompt, Buffer.from([0x68, 0x00, 0xff]))
  fs.writeFileSync(`${messages}/2`, 'more')
  expect(readMessage(temp.home, testSessionId('aaaaaaaaaa'), 1)).toEqual(Buffer.from([0x68, 0x00, 0xff]))
  expect(readMessage(temp.home, testSessionId('aaaaaaaaaa'), 2)).toEqual(Buffer.from('more'))
})

test('countUnknownOutput counts unknown output over all sessions', () => {
  record(testSessionId('aaaaaaaaaa'), { unknown: ['system/foo', 'bar'] })
  record(testSessionId('bbbbbbbbbb'), { unknown: ['system/foo'] })
  expect(countUnknownOutput(temp.home)).toEqual([
    { agent: 'mute', what: 'system/foo', sessions: 2 },
    { agent: 'mute', what: 'bar', sessions: 1 },
  ])
})

function recordNotes(id: string, times: readonly number[]): void {
  const store = openStore(temp.home.database, createMirror(temp.home))
  const { session } = createSession(makeSpec({ agent: 'mute', id }), { hasPrompt: true })
  const phase = { name: 'ended', at: 1, outcome: 'done', reason: '', trouble: null } as const
  const notes = times.map(at => ({ at, type: 'session.noted', note: `${at}` }) as const)
  store.record(makeDecision({ ...session, phase }, notes))
  store.close()
}

const notesOf = (views: Iterable<{ details: unknown }>): number[] =>
  [...views].map(({ details }) => Number((details as { note: string }).note))

test('readEventViews yields events by their time, in pages, all or only the newest', () => {
  fs.mkdirSync(sessionFolder(temp.home, testSessionId('aaaaaaaaaa')).root, { recursive: true })
  const times = Array.from({ length: 1_203 }, (_, n) => n)
  recordNotes('aaaaaaaaaa', [...times.slice(600), ...times.slice(0, 600)])
  recordNotes('bbbbbbbbbb', [5])
  expect(notesOf(readEventViews(temp.home, testSessionId('aaaaaaaaaa'), 'all'))).toEqual(times)
  expect(notesOf(readEventViews(temp.home, testSessionId('aaaaaaaaaa'), 2))).toEqual([1_201, 1_202])
  expect(notesOf(readEventViews(temp.home, testSessionId('cccccccccc'), 'all'))).toEqual([])
})

test('watchEvents yields each event once, in the order of the records', async () => {
  fs.mkdirSync(sessionFolder(temp.home, testSessionId('aaaaaaaaaa')).root, { recursive: true })
  recordNotes('aaaaaaaaaa', [3, 1])
  const seen = []
  for await (const view of watchEvents(temp.home, testSessionId('aaaaaaaaaa'), new AbortController().signal))
    seen.push(view)
  expect(notesOf(seen)).toEqual([3, 1])
})
