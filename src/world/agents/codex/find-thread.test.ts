import fs from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { testThreadId } from '../../../../testkit/core/ids.ts'
import type { ThreadQuery } from '../../../ports/agent.ts'
import { makeThreadQuery } from '../../../../testkit/agents/fixtures.ts'
import { goldenPath } from '../../../../testkit/agents/golden.ts'
import { put, tempFolder } from '../../../../testkit/agents/temp-folder.ts'
import { findThread } from './find-thread.ts'

const LONG = testThreadId('01a1df4c-2796-7f21-83a1-0d83fd174971')
const KILLED = testThreadId('01a1df4f-264d-7433-b7b5-985c9c83a770')

let home: string

beforeEach(() => {
  home = tempFolder()
})

test('findThread finds a thread by its id, with all messages of people before and after compaction', () => {
  writeThread('long', LONG)
  expect(findThread(makeQuery({ thread: LONG }))).toEqual({
    writtenAt: expect.any(Number),
    thread: LONG,
    messages: ['first <environment_context> ünïcode\nline 2', 'second', 'third', 'fourth'],
  })
})

test('instructions, environment notes and subagent reports are not messages of people', () => {
  writeThread('subagent', LONG)
  expect(findThread(makeQuery({ thread: LONG }))?.messages).toEqual(['hi\n'])
})

test('a message that codex saved before the power failed counts', () => {
  const file = writeThread('killed', KILLED)
  const lines = fs.readFileSync(file, 'utf8').split('\n')
  const item = lines.findIndex(line => line.includes('"user.text"') && line.includes('one'))
  fs.writeFileSync(file, `${lines.slice(0, item + 1).join('\n')}\n${lines[item + 1]?.slice(0, 40)}`)
  expect(findThread(makeQuery({ thread: KILLED }))?.messages).toEqual(['one\n'])
})

test('findThread reads versions that record messages as separate events', () => {
  const file = writeThread('killed', KILLED)
  fs.writeFileSync(file, '{"type":"event_msg","payload":{"type":"user_message","message":"one"}}\n')
  expect(findThread(makeQuery({ thread: KILLED }))?.messages).toEqual(['one'])
})

test('findThread finds a thread in the folder of another day than its id implies', () => {
  writeThread('long', LONG, '2031/01/02')
  expect(findThread(makeQuery({ thread: LONG }))?.messages).toHaveLength(4)
})

test('without an id, findThread returns the thread that began in this folder, after that time, with this text', () => {
  writeThread('killed', KILLED)
  writeThread('long', LONG)
  const since = Date.parse('2026-11-15T13:04:28Z')
  expect(findThread(makeQuery({ since, opening: 'one' }))).toEqual({
    thread: KILLED,
    messages: ['one\n', 'two\n'],
    writtenAt: expect.any(Number),
  })
  expect(findThread(makeQuery({ since, opening: 'two' }))).toBeNull()
  expect(findThread(makeQuery({ since: since + 60_000, opening: 'one' }))).toBeNull()
  expect(findThread(makeQuery({ since, opening: 'one', cwd: '/home/dev/elsewhere' }))).toBeNull()
})

test('findThread returns neither of two matching threads', () => {
  writeThread('killed', KILLED)
  writeThread('killed', '01a1df4f-264d-7433-b7b5-000000000000')
  expect(findThread(makeQuery({ since: Date.parse('2026-11-15T13:04:28Z'), opening: 'one' }))).toBeNull()
})

test('findThread returns null without a record', () => {
  expect(findThread(makeQuery({ thread: LONG }))).toBeNull()
  expect(findThread(makeQuery({ opening: 'one' }))).toBeNull()
})

test('without CODEX_HOME, findThread looks for threads below the home folder', () => {
  writeThread('long', LONG)
  fs.renameSync(path.join(home, 'codex'), path.join(home, '.codex'))
  expect(findThread(makeQuery({ thread: LONG, env: { HOME: home } }))?.thread).toBe(LONG)
})

test('findThread throws for an unreadable record instead of reporting a missing one', () => {
  fs.mkdirSync(path.join(home, 'codex/sessions/2026/11/15/rollout-x.jsonl'), { recursive: true })
  expect(() => findThread(makeQuery({ opening: 'one' }))).toThrow('looking up the thread that codex keeps')
})

function writeThread(name: string, thread: string, day = '2026/11/15'): string {
  const file = path.join(home, 'codex/sessions', day, `rollout-2026-11-15T13-00-00-${thread}.jsonl`)
  return put(file, fs.readFileSync(goldenPath(`codex/0.166.0/threads/${name}.jsonl`)))
}

function makeQuery(changes: Partial<ThreadQuery>): ThreadQuery {
  const env = { HOME: '/home/dev', CODEX_HOME: path.join(home, 'codex') }
  return makeThreadQuery({ env, since: Date.parse('2026-11-15T12:00:00Z'), ...changes })
}
