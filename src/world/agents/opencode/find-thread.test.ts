import fs from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { testThreadId, uncheckedThreadId } from '../../../../testkit/core/ids.ts'
import type { ThreadQuery } from '../../../ports/agent.ts'
import { makeThreadQuery } from '../../../../testkit/agents/fixtures.ts'
import { goldenPath } from '../../../../testkit/agents/golden.ts'
import { tempFolder } from '../../../../testkit/agents/temp-folder.ts'
import { openDatabase } from '../../../os/sqlite.ts'
import { findThread } from './find-thread.ts'

const COMPACTED = testThreadId('ses_e208bb3c8ffe36XwbLs8pYtaWe')
const KILLED = testThreadId('ses_e208b8c5cffe76ntRenfcMzI3i')

let home: string
let file: string

beforeEach(() => {
  home = tempFolder()
  file = path.join(home, 'data/opencode/opencode.db')
  fs.mkdirSync(path.dirname(file), { recursive: true })
})

test('findThread finds a thread by its id, with all messages of people before and after compaction', () => {
  record()
  expect(findThread(makeQuery({ thread: COMPACTED }))).toEqual({
    thread: COMPACTED,
    messages: ['do it', 'and now this\n'],
  })
})

test('findThread finds a thread with an unreported id by its title', () => {
  record()
  expect(findThread(makeQuery({ tag: testThreadId('t-killed') }))).toEqual({
    thread: KILLED,
    messages: ['hello', 'go on'],
  })
})

test('the contents of attached files are not messages of people', () => {
  record()
  expect(findThread(makeQuery({ tag: testThreadId('t-file') }))?.messages).toEqual(['with file'])
})

test("a prompt to a subagent is not in the thread, and the subagent's session is not ours", () => {
  record()
  expect(findThread(makeQuery({ tag: testThreadId('t-task') }))?.messages).toEqual(['do it'])
  expect(findThread({ ...makeQuery({}), tag: uncheckedThreadId('sub (@general subagent)') })).toBeNull()
})

test('findThread reads the database while opencode writes it', () => {
  record()
  const writer = openDatabase(file)
  writer.exec('BEGIN IMMEDIATE')
  expect(findThread(makeQuery({ tag: testThreadId('t-killed') }))?.thread).toBe(KILLED)
  writer.exec('ROLLBACK')
  writer.close()
})

test('findThread returns null without a record', () => {
  expect(findThread(makeQuery({ thread: KILLED }))).toBeNull()
  record()
  expect(findThread(makeQuery({ thread: testThreadId('ses_nobody') }))).toBeNull()
  expect(findThread(makeQuery({ tag: testThreadId('another') }))).toBeNull()
})

test('findThread looks for threads below the home folder, unless OPENCODE_DB names another file', () => {
  record()
  const elsewhere = path.join(home, 'elsewhere.db')
  fs.renameSync(file, elsewhere)
  expect(findThread(makeQuery({ thread: KILLED }))).toBeNull()
  expect(findThread(makeQuery({ thread: KILLED, env: { HOME: home, OPENCODE_DB: elsewhere } }))?.thread).toBe(KILLED)
  const below = path.join(home, '.local/share/opencode/opencode.db')
  fs.mkdirSync(path.dirname(below), { recursive: true })
  fs.renameSync(elsewhere, below)
  expect(findThread(makeQuery({ thread: KILLED, env: { HOME: home } }))?.thread).toBe(KILLED)
})

test('findThread rejects a thread that began in another folder', () => {
  record()
  expect(findThread(makeQuery({ thread: KILLED }))?.thread).toBe(KILLED)
  expect(findThread(makeQuery({ thread: KILLED, cwd: '/somewhere/else' }))).toBeNull()
})

test('findThread throws for an unreadable record instead of reporting a missing one', () => {
  record()
  const locker = openDatabase(file)
  locker.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
  expect(() => findThread(makeQuery({ thread: KILLED }))).toThrow(/looking up the thread that opencode keeps: .*locked/)
  locker.close()
  fs.writeFileSync(file, 'not a database at all, but long enough to be looked at as one by whoever opens it')
  expect(() => findThread(makeQuery({ thread: KILLED }))).toThrow('looking up the thread that opencode keeps')
})

/** Writes the rows that opencode 1.18.33 wrote into its database. */
function record(): void {
  const database = openDatabase(file)
  database.exec(fs.readFileSync(goldenPath('opencode/1.18.33/threads/all.sql'), 'utf8'))
  database.close()
}

function makeQuery(changes: Partial<ThreadQuery>): ThreadQuery {
  return makeThreadQuery({ env: { HOME: '/home/dev', XDG_DATA_HOME: path.join(home, 'data') }, ...changes })
}
