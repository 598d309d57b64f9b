import { testSessionId } from '../../testkit/core/ids.ts'
import { withAttempt } from '../core/session/attempt.ts'
import fs from 'node:fs'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { SessionView } from '../api/contract/responses.ts'
import { createSession } from '../core/session/create.ts'
import type { Session } from '../core/session/session-state.ts'
import { makeDecision } from '../core/session/decision.ts'
import { makeSpec } from '../../testkit/in-memory/simulation.ts'
import { type TempHome, tempHome } from '../../testkit/system/temp-home.ts'
import { waitUntil } from '../../testkit/system/wait-until.ts'
import { attemptFolder, sessionFolder } from '../state/session-folder.ts'
import { createMirror } from '../world/store/mirror.ts'
import { openStore, type SqliteStore } from '../world/store/sqlite-store.ts'
import { followLog, type LogOptions, readLog } from './output-log.ts'
import { readTranscriptLength } from './output-log-source.ts'
import { toSessionView } from './session-view.ts'
import { watchSession } from './read-session.ts'

const ID = testSessionId('aaaaaaaaaa')
let temp: TempHome
let session: Session
let store: SqliteStore
beforeEach(() => {
  temp = tempHome()
  store = openStore(temp.home.database, createMirror(temp.home))
  session = createSession(makeSpec({ agent: 'mute', id: ID }), { hasPrompt: true }).session
  fs.mkdirSync(attemptFolder(temp.home, ID, 1).root, { recursive: true })
  store.record(makeDecision(session, []))
})
afterEach(async () => {
  store.close()
  await temp.assertNoLeaks()
})

const view = (): SessionView => toSessionView(session, temp.home)
const stdout = (attempt = 1): string => attemptFolder(temp.home, ID, attempt).stdout
const PLAIN: LogOptions = { raw: false, colour: false }

function end(): void {
  session = { ...session, phase: { name: 'ended', at: 5_000, outcome: 'done', reason: 'exit code 0', trouble: null } }
  store.record(makeDecision(session, []))
}

async function read(options: Partial<LogOptions> = {}): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of readLog(temp.home, view(), { ...PLAIN, ...options })) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

test('a session without output has an empty log', async () => {
  expect(await read()).toBe('')
})

test('a log shows the text as a person would have read it, and a raw log the written bytes', async () => {
  const written = '10%\r100%\r\n\u001b[31mred\u001b[0m\r\nno end'
  fs.writeFileSync(stdout(), written)
  expect(await read()).toBe('100%\nred\nno end\n')
  expect(await read({ colour: true })).toBe('100%\n\u001b[31mred\u001b[0m\nno end\n')
  expect(await read({ raw: true })).toBe(written)
})

test('a log ends the last colour of the program, and shows no text that its colours would hide', async () => {
  fs.writeFileSync(stdout(), '\u001b[8mhidden\u001b[30;40m black \u001b[38;5;208morange\n')
  expect(await read({ colour: true })).toBe('hidden black \u001b[38;5;208morange\n\u001b[0m')
})

test('readLog counts the last lines over all attempts, and can read a single attempt', async () => {
  session = withAttempt(session, { number: 2 })
  fs.mkdirSync(attemptFolder(temp.home, ID, 2).root)
  fs.writeFileSync(stdout(1), 'a\nb\nc\n')
  fs.writeFileSync(stdout(2), 'd\ne')
  const last = (lines: number): Promise<string> => read({ lines })
  expect(await Promise.all([0, 1, 2, 3, 5, 99].map(last))).toEqual([
    '',
    'e\n',
    'd\ne\n',
    'c\nd\ne\n',
    'a\nb\nc\nd\ne\n',
    'a\nb\nc\nd\ne\n',
  ])
  expect(await read({ attempt: 1 })).toBe('a\nb\nc\n')
})

test('readLog cuts a large log at the start of its last lines', async () => {
  const lines = Array.from({ length: 100_000 }, (_, i) => `line ${i}`)
  fs.writeFileSync(stdout(), `${lines.join('\n')}\n`)
  expect((await read({ lines: 2 })).split('\n')).toEqual(['line 99998', 'line 99999', ''])
  expect((await read()).length).toBe(lines.join('\n').length + 1)
})

test('readLog reads a log from a point in time, as precisely as the recorded lengths allow', async () => {
  fs.writeFileSync(stdout(), 'early\nlate\n')
  fs.writeFileSync(attemptFolder(temp.home, ID, 1).times, '1000 0\n2000 6\n')
  fs.utimesSync(stdout(), 3, 3)
  expect(await Promise.all([500, 2_500, 4_000].map(since => read({ since })))).toEqual(['early\nlate\n', 'late\n', ''])
})

test('the log is the transcript, unless the caller asks for the program’s own output', async () => {
  fs.writeFileSync(stdout(), '{"type":"text"}\n')
  fs.writeFileSync(sessionFolder(temp.home, ID).transcript, 'I begin\n')
  expect([await read(), await read({ raw: true }), await read({ attempt: 1 })]).toEqual([
    'I begin\n',
    '{"type":"text"}\n',
    '{"type":"text"}\n',
  ])
})

test('readLog colours a transcript by the kind of each line, and does not colour the program’s own bytes', async () => {
  const transcript = 'I look.\n● Bash ls\n  │ a.txt\n  ✗ no b.txt\n✗ denied\n── attempt 2: continues its thread\n'
  fs.writeFileSync(sessionFolder(temp.home, ID).transcript, transcript)
  fs.writeFileSync(stdout(), '● not ours\n')
  expect(await read()).toBe(transcript)
  expect((await read({ colour: true })).split('\n')).toEqual([
    'I look.',
    '\u001b[36m● Bash ls\u001b[0m',
    '\u001b[2m  │ a.txt\u001b[0m',
    '\u001b[31m  ✗ no b.txt\u001b[0m',
    '\u001b[31m✗ denied\u001b[0m',
    '\u001b[1m── attempt 2: continues its thread\u001b[0m',
    '',
  ])
  expect(await read({ colour: true, raw: true })).toBe('● not ours\n')
})

test('readLog reads a transcript from an earlier length on', async () => {
  fs.writeFileSync(sessionFolder(temp.home, ID).transcript, 'before\n')
  const after = readTranscriptLength(temp.home, ID)
  fs.appendFileSync(sessionFolder(temp.home, ID).transcript, 'after\n')
  expect(await read({ after })).toBe('after\n')
  expect(readTranscriptLength(temp.home, testSessionId('bbbbbbbbbb'))).toBe(0)
})

test('followLog reads until the session has ended, and misses nothing', async () => {
  fs.writeFileSync(stdout(), 'one\n')
  let seen = ''
  const following = (async () => {
    for await (const chunk of followLog(temp.home, view(), PLAIN, new AbortController().signal))
      seen += Buffer.from(chunk).toString()
  })()
  await waitUntil('the first line is read', () => seen === 'one\n')
  fs.appendFileSync(stdout(), 'tw')
  fs.appendFileSync(stdout(), 'o\nthree')
  await waitUntil('the second line is read', () => seen === 'one\ntwo\n')
  end()
  await following
  expect(seen).toBe('one\ntwo\nthree\n')
})

test('the caller of followLog may stop at any time', async () => {
  fs.writeFileSync(stdout(), 'one\n')
  const leave = new AbortController()
  const seen: string[] = []
  for await (const chunk of followLog(temp.home, view(), PLAIN, leave.signal)) {
    seen.push(Buffer.from(chunk).toString())
    leave.abort()
  }
  expect(seen).toEqual(['one\n'])
})

test('watchSession yields each change, and nothing after the end', async () => {
  const seen: (string | null)[] = []
  const watching = (async () => {
    for await (const { phase, outcome } of watchSession(temp.home, ID, new AbortController().signal))
      seen.push(phase, outcome)
  })()
  await waitUntil('its beginning is seen', () => seen.length === 2)
  end()
  await watching
  expect(seen).toEqual(['starting', null, 'ended', 'done'])
})

test('readLog shows a line of many megabytes once, and joins its pieces once', async () => {
  const joined = vi.spyOn(Buffer, 'concat')
  const size = 8 * 1024 ** 2
  fs.writeFileSync(stdout(), `${'x'.repeat(size)}\nend\n`)
  let bytes = 0
  for await (const piece of readLog(temp.home, view(), PLAIN)) bytes += piece.length
  const copied = joined.mock.results.reduce((total, { value }) => total + (value as Buffer).length, 0)
  joined.mockRestore()
  expect(bytes).toBe(size + 5)
  expect(copied).toBeLessThan(3 * size)
})
