import fs from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSession } from '../../src/core/session/create.ts'
import type { Session } from '../../src/core/session/session-state.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import { makeSpec } from '../../testkit/in-memory/simulation.ts'
import { flushPromises } from '../../testkit/in-memory/virtual-clock.ts'
import { type TempHome, tempHome } from '../../testkit/system/temp-home.ts'
import { sessionFolder } from '../../src/state/session-folder.ts'
import { openOrRebuild } from '../../src/world/store/rebuild-from-mirror.ts'
import { openDatabase } from '../../src/os/sqlite.ts'
import { readRecentSessions, readEvents, readStoredSession } from '../../src/world/store/reader.ts'

let temp: TempHome
let said: string[]
beforeEach(() => {
  temp = tempHome()
  said = []
})
afterEach(() => temp.assertNoLeaks())

const open = () => openOrRebuild(temp.home, sentence => said.push(sentence))

/** Two sessions as a supervisor leaves them when it is killed: in a home that was written by somebody else. */
async function leaveTwo(): Promise<Session[]> {
  const writer = tempHome().home
  const store = openOrRebuild(writer, () => undefined)
  const sessions = ['aaaaaaaaaa', 'bbbbbbbbbb'].map((id, i) => {
    const first = createSession(makeSpec({ agent: 'talker', id, name: `talker-${i}`, createdAt: 1_000 + i }), {
      hasPrompt: true,
    })
    fs.mkdirSync(sessionFolder(writer, testSessionId(id)).root)
    store.record(first)
    return first.session
  })
  await flushPromises() // Copies are written once per turn.
  openDatabase(writer.database).exec('PRAGMA wal_checkpoint(TRUNCATE)')
  fs.copyFileSync(writer.database, temp.home.database)
  fs.cpSync(writer.sessions, temp.home.sessions, { recursive: true })
  fs.rmSync(writer.root, { recursive: true })
  return sessions
}

function files(): string[] {
  return fs.readdirSync(temp.home.root).filter(name => name.startsWith('oneshot.db'))
}

test('the store opens a sound database as it is', async () => {
  const sessions = await leaveTwo()
  const store = open()
  expect(store.all()).toEqual([...sessions].reverse())
  expect(store.pendingEffects()).toHaveLength(2)
  expect(said).toEqual([])
  store.close()
})

test.each<[string, () => void]>([
  [
    'is not a database',
    () => fs.writeFileSync(temp.home.database, 'this is not a database, this is a letter'.repeat(99)),
  ],
  [
    'has a hole in the middle',
    () => {
      const bytes = fs.readFileSync(temp.home.database)
      bytes.fill(0xff, 4_096, bytes.length)
      fs.writeFileSync(temp.home.database, bytes)
    },
  ],
])('the store moves a database aside that %s, and rebuilds its sessions', async (_, spoil) => {
  const sessions = await leaveTwo()
  spoil()
  const store = open()
  expect(store.all()).toEqual([...sessions].reverse())
  expect(store.live()).toHaveLength(2)
  expect(said.join()).toMatch(/could not be read.*moved to .*corrupt.*2 sessions rebuilt/s)
  expect(files().some(name => name.includes('corrupt'))).toBe(true)
  store.close()
})

test('the store rebuilds a database that a killed rebuild has left missing', async () => {
  const sessions = await leaveTwo()
  fs.rmSync(temp.home.database)
  const store = open()
  expect(store.all()).toEqual([...sessions].reverse())
  expect(
    store.pendingEffects().map(({ effect }) => effect),
    'they were to be launched',
  ).toEqual([
    { type: 'launch', attempt: 1 },
    { type: 'launch', attempt: 1 },
  ])
  expect(said.join()).toMatch(/2 sessions rebuilt/)
  store.close()
})

test('the store rebuilds the other sessions if it cannot read one copy', async () => {
  const [, second] = await leaveTwo()
  fs.writeFileSync(temp.home.database, 'no database'.repeat(999))
  fs.writeFileSync(sessionFolder(temp.home, testSessionId('aaaaaaaaaa')).mirror, '{"spec": {')
  const store = open()
  expect(store.all()).toEqual([second])
  store.close()
})

test('the store and its readers refuse the copies of a newer oneshot, instead of a rebuild without them', async () => {
  await leaveTwo()
  fs.writeFileSync(temp.home.database, 'no database'.repeat(999))
  const { mirror } = sessionFolder(temp.home, testSessionId('aaaaaaaaaa'))
  fs.writeFileSync(mirror, JSON.stringify({ version: 99, what: 'no idea' }))
  const newer = /a newer oneshot wrote it \(version 99, this one knows \d+\): oneshot update/
  expect(open).toThrow(newer)
  expect(() => readRecentSessions(temp.home, 9)).toThrow(newer)
  expect(fs.readFileSync(mirror, 'utf8')).toContain('no idea')
})

test('the store refuses a database of a later version, and does not move it aside', async () => {
  await leaveTwo()
  setVersion(999)
  expect(open).toThrow(/version 999/)
  expect(files().some(name => name.includes('corrupt'))).toBe(false)
  expect(() => readRecentSessions(temp.home, 9)).toThrow('a newer oneshot wrote it (version 999')
})

test('a reader needs no supervisor, and uses the copies if it cannot read the database', async () => {
  const sessions = await leaveTwo()
  const newest = [...sessions].reverse()
  expect(readRecentSessions(temp.home, 9)).toEqual(newest)
  expect(readStoredSession(temp.home, testSessionId('aaaaaaaaaa'))).toEqual(sessions[0])
  expect(readEvents(temp.home, testSessionId('aaaaaaaaaa')).map(event => event.type)).toEqual([
    'session.created',
    'attempt.launched',
    'message.delivered',
  ])
  fs.rmSync(temp.home.database)
  fs.writeFileSync(temp.home.database, 'no database'.repeat(999))
  expect(readRecentSessions(temp.home, 9)).toEqual(newest)
  expect(readStoredSession(temp.home, testSessionId('bbbbbbbbbb'))).toEqual(sessions[1])
  expect(readStoredSession(temp.home, testSessionId('cccccccccc'))).toBeUndefined()
  expect(readEvents(temp.home, testSessionId('aaaaaaaaaa'))).toEqual([])
})

test('a thousand reads leave no file open', async () => {
  await leaveTwo()
  readRecentSessions(temp.home, 9)
  const before = fs.readdirSync('/proc/self/fd').length
  for (let times = 0; times < 1_000; times++) readStoredSession(temp.home, testSessionId('aaaaaaaaaa'))
  expect(fs.readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before + 1)
})

/** Byte 60 of the header holds the version. */
function setVersion(version: number): void {
  const bytes = fs.readFileSync(temp.home.database)
  bytes.writeUInt32BE(version, 60)
  fs.writeFileSync(temp.home.database, bytes)
}
