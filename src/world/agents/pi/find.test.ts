import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { find } from './find.ts'
import { threadFile } from './folder.ts'

let root: string
beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'pi-find-')))
})
afterEach(() => fs.rmSync(root, { recursive: true }))

test('before the first answer there is no record', () => {
  expect(find(place())).toBeNull()
  expect(find({ ...place(), thread: 'told' })).toBeNull()
  write(threadFile(place(), 'tag'), '')
  expect(find(place())).toBeNull()
})

test.each([
  ['0.73.1', '01a1df5a-2bb5-76b0-bbba-9753cf20f4bb'],
  ['0.87.1', '01a1df5a-54e7-755a-9c9c-f6d2088ee521'],
])('the record of pi %s holds what people said, in order and in full', (version, thread) => {
  const golden = path.join(import.meta.dirname, '../../../../test/golden/pi', version, 'killed-in-tool.thread')
  write(threadFile(place(), 'tag'), fs.readFileSync(golden, 'utf8'))
  const messages = ['first message', 'second message\nwith "role":"user" and two lines', 'third message', 'go on']
  expect(find(place())).toEqual({ thread, messages })
})

test('half a line at the end, as a crash leaves it, is not yet a message', () => {
  const file = threadFile(place(), 'tag')
  write(file, `${header('mine')}\n${said('one')}\n${said('two').slice(0, -9)}`)
  expect(find(place())).toEqual({ thread: 'mine', messages: ['one'] })
})

test('a thread that pi named itself is found by its id', () => {
  write(path.join(path.dirname(threadFile(place(), 'tag')), '2026_abc.jsonl'), `${header('abc')}\n${said('hello')}\n`)
  expect(find({ ...place(), thread: 'abc' })).toEqual({ thread: 'abc', messages: ['hello'] })
  expect(find(place())).toBeNull()
})

function place(): Parameters<typeof find>[0] {
  return { thread: null, tag: 'tag', cwd: root, env: { HOME: root }, since: 0, others: [], opening: '' }
}

function write(file: string, content: string): void {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, content)
}

function header(id: string): string {
  return JSON.stringify({ type: 'session', version: 3, id, cwd: root })
}

function said(text: string): string {
  return JSON.stringify({ type: 'message', id: '1', message: { role: 'user', content: [{ type: 'text', text }] } })
}
