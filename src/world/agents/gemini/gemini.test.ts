import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { testThreadId } from '../../../../testkit/core/ids.ts'
import type { LaunchRequest, ParserState } from '../../../ports/agent.ts'
import { makeExitEvidence, makeLaunchRequest, makeThreadQuery } from '../../../../testkit/agents/fixtures.ts'
import { goldenPath } from '../../../../testkit/agents/golden.ts'
import { tempFolder } from '../../../../testkit/agents/temp-folder.ts'
import { explainExit } from './gemini.ts'
import { classifyError } from './failure.ts'
import { findThread } from './find-thread.ts'
import { gemini } from './gemini.ts'
import { readLine } from './parse-output.ts'

const id = '77777777-0000-4000-8000-000000000007'

test('a thread begins under our id and resumes under its own', () => {
  expect(gemini.planLaunch(makeLaunchRequest({ argv: ['/bin/gemini', '-s'], model: 'gemini-2.5-pro' }))).toEqual({
    argv: '/bin/gemini --output-format stream-json --yolo --skip-trust -m gemini-2.5-pro --session-id our-tag -s'.split(
      ' ',
    ),
    env: { GEMINI_CLI_NO_RELAUNCH: 'true' },
    stdin: 'text',
  })
  const { argv } = gemini.planLaunch(makeLaunchRequest({ argv: ['/bin/gemini'], resume: 'mine', autonomy: 'edits' }))
  expect(argv.slice(3)).toEqual(['--approval-mode', 'auto_edit', '--resume', 'mine'])
  for (const autonomy of ['edits', 'ask'] as const)
    expect(gemini.planLaunch(makeLaunchRequest({ argv: ['/bin/gemini'], autonomy })).argv).not.toContain('--skip-trust')
})

test('validate refuses arguments that conflict with ours', () => {
  const objection = (changes: Partial<LaunchRequest>): string | undefined =>
    gemini.validate?.(makeLaunchRequest(changes), { isRoot: false })?.problem
  expect(objection({ argv: ['gemini', '--sandbox'] })).toBeUndefined()
  expect(objection({ effort: 'high' })).toBe('gemini takes no effort')
  expect(objection({ argv: ['gemini', '--resume=latest'] })).toBe('--resume=latest cannot be given to gemini here')
})

test('readLine shows an answer in whole lines, and the rest of it before any other event', () => {
  let memory: ParserState = {}
  const texts = [
    'One\nTw',
    'o',
    { type: 'tool_use', tool_name: 'ls', tool_id: '1' },
    '\n\nThree\n',
    'Four',
    'words',
  ].map(item => {
    const event = typeof item === 'string' ? { type: 'message', role: 'assistant', content: item } : item
    const reading = readLine(item === 'words' ? item : JSON.stringify(event), memory)
    memory = reading.memory ?? memory
    return reading.text
  })
  expect(texts).toEqual(['One\n', null, 'Two\n● ls\n', '\n\nThree\n', null, 'words\n'])
  expect(memory).toMatchObject({ unsaid: 'Four', answer: '\n\nThree\nFour' })
})

test('readLine reports an unknown event by name and continues', () => {
  for (const [line, what] of [
    ['{"type":"dream","of":[1]}', 'dream'],
    ['{"type":"constructor"}', 'constructor'],
    ['{"type":"message","role":"prophet"}', 'message/prophet'],
  ] as const) {
    expect(readLine(line, {})).toEqual({ observations: [{ type: 'unknown', what }], text: null })
  }
  for (const type of ['init', 'message', 'tool_use', 'tool_result', 'error', 'result']) {
    expect(() => readLine(JSON.stringify({ type, stats: 7, parameters: 7, error: 7 }), {})).not.toThrow()
  }
})

test('a turn without a final answer is not a success', () => {
  expect(readLine('{"type":"result","status":"success"}', {}).observations).toMatchObject([
    { type: 'finished', word: { ok: false, failure: { kind: 'empty' } } },
  ])
})

test.each([
  ['rate-limit', '[API Error: {"error":{"code":429,"message":"Quota exceeded. Please retry in 32.5s.","status":"X"}}]'],
  ['overloaded', '[API Error: {"error":{"code":503,"message":"The model is overloaded."}}]'],
  ['network', '[API Error: terminated]'],
  ['context', '[API Error: The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).]'],
  ['budget', 'Reached max session turns for this session.'],
  ['other', 'Operation cancelled.'],
])('%s: %s', (kind, message) => {
  expect(classifyError(message, 1000)).toMatchObject({ kind, resetAt: kind === 'rate-limit' ? 33_500 : null })
})

test("findThread returns the messages of people from any of the thread's files", () => {
  const home = tempFolder()
  const query = makeThreadQuery({ tag: id, env: { HOME: home } })
  expect(findThread(query)).toBeNull()
  fs.cpSync(goldenPath('gemini/0.61.0/threads'), path.join(home, '.gemini/tmp/project/chats'), { recursive: true })
  const messages = ['first message', 'second message\nwith two lines', 'third message', 'go on']
  expect(findThread(query)).toEqual({ thread: id, messages, writtenAt: expect.any(Number) })
  expect(findThread({ ...query, thread: testThreadId('77777777-0000-4000-8000-000000000009') })).toBeNull()
})

test.each([
  ['thread-lost', 42, 'Error resuming session: Invalid session identifier "x".\n  Searched for sessions in /home'],
  ['thread-lost', 42, 'Error starting session: Session ID "x" already exists. Use --resume to resume it'],
  ['login', 41, 'When using Gemini API, you must specify the GEMINI_API_KEY environment variable.'],
  ['setup', 1, 'Unknown argument: nonsense\nUsage: gemini [options] [command]'],
  ['untrusted', 55, '\u001b[31mGemini CLI is not running in a trusted directory. To proceed, …'],
])('%s: exit %i and %s', (kind, code, stderr) => {
  const word = explainExit(makeExitEvidence({ exit: { kind: 'code', code }, stderr }))
  expect(word).toMatchObject({ ok: false, failure: { kind } })
})
