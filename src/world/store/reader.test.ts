import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import type { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testSessionId } from '../../../testkit/core/ids.ts'
import { makeSpec } from '../../../testkit/in-memory/simulation.ts'
import { type TempHome, tempHome } from '../../../testkit/system/temp-home.ts'
import { createSession } from '../../core/session/create.ts'
import { makeDecision } from '../../core/session/decision.ts'
import { sessionFolder } from '../../state/session-folder.ts'
import { indexOf } from '../../os/sqlite.ts'
import { createMirror } from './mirror.ts'
import { searchSessions } from './reader.ts'
import { openStore } from './sqlite-store.ts'

const ID = testSessionId('aaaaaaaaaa')
/** Has the database open, as the supervisor has. A reader in the process of a writer would share its index. */
const HOLDER = `
  const { DatabaseSync } = require('@photostructure/sqlite')
  const database = new DatabaseSync(process.argv[1])
  database.exec('BEGIN IMMEDIATE; COMMIT')
  console.log('open')
  process.stdin.on('end', () => database.close()).resume()`

let temp: TempHome
let holder: ChildProcess
beforeEach(async () => {
  temp = tempHome()
  fs.mkdirSync(sessionFolder(temp.home, ID).root, { recursive: true })
  const written = `${temp.home.database}.written`
  const store = openStore(written, createMirror(temp.home))
  store.record(makeDecision(createSession(makeSpec({ agent: 'mute', id: ID }), { hasPrompt: true }).session, []))
  for (const end of ['', '-wal', '-shm']) fs.copyFileSync(`${written}${end}`, `${temp.home.database}${end}`)
  store.close()
  holder = spawn(process.execPath, ['-e', HOLDER, temp.home.database], { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(holder.stdout as Readable, 'data')
})
afterEach(async () => {
  holder.stdin?.end()
  await once(holder, 'exit')
  await temp.assertNoLeaks()
})

/** Changes the first of the two copies of the header, as a writer does before it changes the second. */
function writeFirstHeader(change: (header: Buffer) => void): void {
  const fd = fs.openSync(indexOf(temp.home.database), 'r+')
  const header = Buffer.alloc(48)
  fs.readSync(fd, header, 0, header.length, 0)
  change(header)
  fs.writeSync(fd, header, 0, header.length, 0)
  fs.closeSync(fd)
}

/** Reads the session while the first `torn` reads find a header that is being written. */
function readWith(torn: number): { name: string | undefined; reads: number } {
  let reads = 0
  const name = searchSessions(temp.home, index => {
    reads++
    if (reads > torn) return index.load(ID)?.spec.name
    writeFirstHeader(header => header.writeUInt32LE(header.readUInt32LE(8) + 1, 8))
    try {
      return index.load(ID)?.spec.name
    } finally {
      writeFirstHeader(header => header.writeUInt32LE(header.readUInt32LE(8) - 1, 8))
    }
  })
  return { name, reads }
}

test('a reader that meets a commit of the supervisor reads the database again, not the older copies', () => {
  fs.rmSync(sessionFolder(temp.home, ID).root, { recursive: true })
  const { name } = readWith(0)
  expect(name).toBeDefined()
  expect(readWith(1)).toEqual({ name, reads: 2 })
  expect(readWith(5)).toEqual({ name, reads: 6 })
})

test('a reader uses the copies if the index of the journal stays unreadable', () => {
  const { name } = readWith(0)
  expect(readWith(10)).toEqual({ name, reads: 11 })
})

test('a search sees one state of the database, also if a session ends meanwhile', async () => {
  const other = tempHome()
  const store = openStore(other.home.database, createMirror(other.home))
  const { session } = createSession(makeSpec({ agent: 'mute', id: ID }), { hasPrompt: true })
  store.record(makeDecision(session, []))
  const phase = { name: 'ended', at: 5_000, outcome: 'done', reason: 'exit code 0', trouble: null } as const
  const lists = (end: () => void): readonly [number, number] =>
    searchSessions(other.home, index => {
      const live = index.live().length
      end()
      return [live, index.ended({}, { limit: 10 }).length]
    })
  expect(lists(() => store.record(makeDecision({ ...session, phase }, [])))).toEqual([1, 0])
  expect(lists(() => undefined)).toEqual([0, 1])
  store.close()
  await other.assertNoLeaks()
})
