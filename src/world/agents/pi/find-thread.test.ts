import fs from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { testThreadId } from '../../../../testkit/core/ids.ts'
import type { ThreadQuery } from '../../../ports/agent.ts'
import { makeThreadQuery } from '../../../../testkit/agents/fixtures.ts'
import { goldenPath } from '../../../../testkit/agents/golden.ts'
import { put, tempFolder } from '../../../../testkit/agents/temp-folder.ts'
import { findThread } from './find-thread.ts'
import { ownThreadFile } from './find-thread.ts'

let root: string
beforeEach(() => {
  root = tempFolder()
})

test('before the first answer there is no record', () => {
  expect(findThread(makeQuery())).toBeNull()
  expect(findThread(makeQuery({ thread: testThreadId('told') }))).toBeNull()
  put(ownThreadFile(makeQuery(), testThreadId('our-tag')), '')
  expect(findThread(makeQuery())).toBeNull()
})

test.each([
  ['0.73.1', '01a1df5a-2bb5-76b0-bbba-9753cf20f4bb'],
  ['0.87.1', '01a1df5a-54e7-755a-9c9c-f6d2088ee521'],
])('the record of pi %s holds the messages of people, in order and in full', (version, thread) => {
  const recorded = goldenPath(`pi/${version}/threads/killed-in-tool.jsonl`)
  put(ownThreadFile(makeQuery(), testThreadId('our-tag')), fs.readFileSync(recorded))
  const messages = ['first message', 'second message\nwith "role":"user" and two lines', 'third message', 'go on']
  expect(findThread(makeQuery())).toEqual({ thread, messages, writtenAt: expect.any(Number) })
})

test('an incomplete last line, left by a crash, is not yet a message', () => {
  const file = ownThreadFile(makeQuery(), testThreadId('our-tag'))
  put(file, `${header('mine')}\n${said('one')}\n${said('two').slice(0, -9)}`)
  expect(findThread(makeQuery())).toEqual({ thread: 'mine', messages: ['one'], writtenAt: expect.any(Number) })
})

test('findThread finds a thread that pi named itself by its id', () => {
  put(
    path.join(path.dirname(ownThreadFile(makeQuery(), testThreadId('our-tag'))), '2026_abc.jsonl'),
    `${header('abc')}\n${said('hello')}\n`,
  )
  expect(findThread(makeQuery({ thread: testThreadId('abc') }))).toEqual({
    thread: 'abc',
    messages: ['hello'],
    writtenAt: expect.any(Number),
  })
  expect(findThread(makeQuery())).toBeNull()
})

function makeQuery(changes: Partial<ThreadQuery> = {}): ThreadQuery {
  return makeThreadQuery({ cwd: root, env: { HOME: root }, ...changes })
}

function header(id: string): string {
  return JSON.stringify({ type: 'session', version: 3, id, cwd: root })
}

function said(text: string): string {
  return JSON.stringify({ type: 'message', id: '1', message: { role: 'user', content: [{ type: 'text', text }] } })
}
