import { array, assert, constantFrom, dictionary, letrec, oneof, property } from 'fast-check'
import { expect, test } from 'vitest'
import { readAll } from '../../../../testkit/agents/read-all.ts'
import { readLine } from './parse-output.ts'

const init = { type: 'system', subtype: 'init', session_id: 't-1', cwd: '/p', claude_code_version: '9', model: 'm' }
const success = { type: 'result', subtype: 'success', is_error: false, num_turns: 1, permission_denials: [] }

test('readLine shows a line that is not an event as it is', () => {
  for (const line of ['Warning: no stdin data', '{"half', '[1]', '42', '{"no":"type"}']) {
    expect(readLine(line, {})).toEqual({ observations: [], text: `${line}\n` })
  }
})

test('readLine reports an unknown event of a later version by name and continues', () => {
  const later = [
    { type: 'system', subtype: 'dream_started' },
    { type: 'telepathy' },
    { type: 'constructor' },
    { type: 'system', subtype: 'toString' },
    { type: 'assistant', message: { id: '1', content: [{ type: 'hologram' }, { type: 'text', text: 'Hi' }] } },
    { type: 'user', message: { content: [{ type: 'smell' }] } },
  ]
  const { observations, transcript } = readAll(readLine, [init, ...later, { ...success, result: 'Hi' }])
  const unknown = observations.filter(({ type }) => type === 'unknown').map(item => 'what' in item && item.what)
  expect(unknown).toEqual(
    'system/dream_started telepathy constructor system/toString assistant/hologram user/smell'.split(' '),
  )
  expect(observations.at(-1)).toEqual({ type: 'finished', word: { ok: true, text: 'Hi' } })
  expect(transcript).toBe('── claude 9, m\nHi\n')
})

test('no event makes readLine fail, whatever its fields hold', () => {
  const names = [
    'type',
    'subtype',
    'message',
    'content',
    'usage',
    'model',
    'result',
    'errors',
    'tasks',
    'task_id',
    'patch',
  ]
  const types = [
    'system',
    'assistant',
    'user',
    'result',
    'rate_limit_event',
    'init',
    'task_started',
    'tool_result',
    'text',
  ]
  const field = constantFrom(...names, 'permission_denials', 'modelUsage', 'rate_limit_info', 'tool_use_result')
  const { tree } = letrec(tie => ({
    tree: oneof(
      { maxDepth: 4 },
      constantFrom<unknown>(...types, null, 1, true, '<synthetic>'),
      array(tie('tree'), { maxLength: 3 }),
      dictionary(field, tie('tree'), { maxKeys: 5 }),
    ),
  }))
  assert(
    property(array(dictionary(field, tree, { maxKeys: 6 }), { maxLength: 6 }), events => {
      readAll(readLine, events)
    }),
    { numRuns: 1000 },
  )
})

test('an answer in several blocks counts once, and an answer of a subagent is not a turn', () => {
  const usage = { input_tokens: 10, cache_creation_input_tokens: 2, cache_read_input_tokens: 30, output_tokens: 1 }
  const block = (id: string, parent: string | null) => ({
    type: 'assistant',
    message: { id, model: 'm', content: [{ type: 'text', text: 'x' }], usage },
    parent_tool_use_id: parent,
  })
  const { observations } = readAll(readLine, [
    init,
    block('a', null),
    block('s', 'call'),
    block('a', null),
    block('s', 'call'),
  ])
  expect(observations.filter(({ type }) => type === 'spent')).toEqual([
    { type: 'spent', scope: 'attempt', spending: { input: 42, cached: 30, output: 1, usd: null, turns: 1 } },
    { type: 'spent', scope: 'attempt', spending: { input: 84, cached: 60, output: 2, usd: null, turns: 1 } },
  ])
})

test('readLine remembers the reset time of a limit until the turn ends, and forgets it once the limit is lifted', () => {
  const limit = (status: string) => ({ type: 'rate_limit_event', rate_limit_info: { status, resetsAt: 1_794_737_395 } })
  const failure = { ...success, is_error: true, api_error_status: 429, result: "You've hit your limit" }
  const word = (events: object[]) => readAll(readLine, [init, ...events, failure]).observations.at(-1)
  const resetAt = 1_794_737_395_000
  expect(word([limit('rejected')])).toMatchObject({ word: { failure: { kind: 'rate-limit', resetAt } } })
  expect(word([limit('rejected'), limit('allowed')])).toMatchObject({ word: { failure: { resetAt: null } } })
})

test('a refusal by the user’s own hook does not fail the turn; a refusal by the program does', () => {
  const denied = { ...success, result: 'end', permission_denials: [{ tool_name: 'Bash', tool_use_id: 'c1' }] }
  const refusal = (content: string) => ({
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: 'c1', is_error: true, content }] },
  })
  const last = (content: string) => readAll(readLine, [init, refusal(content), denied]).observations.at(-1)
  expect(last('PreToolUse:Bash hook error: [guard]: no')).toEqual({ type: 'finished', word: { ok: true, text: 'end' } })
  expect(last('This command requires approval')).toMatchObject({ word: { ok: false, failure: { kind: 'denied' } } })
})

test('an answer may mention failures', () => {
  const result = 'Prompt is too long; No conversation found with session ID: x; Unknown command: /y'
  expect(readAll(readLine, [init, { ...success, result }]).observations.at(-1)).toMatchObject({ word: { ok: true } })
})

test.each([
  ['unknown', null, 'network'],
  ['rate_limit', 429, 'rate-limit'],
  ['server_error', 503, 'overloaded'],
  ['overloaded', 529, 'overloaded'],
  ['server_error', 408, 'network'],
  ['something_new', 418, 'other'],
])('while it tries again after %s %s', (error, error_status, kind) => {
  const retry = { type: 'system', subtype: 'api_retry', attempt: 3, max_retries: 10, retry_delay_ms: 4900.4 }
  const { observations, transcript } = readAll(readLine, [{ ...retry, error, error_status }])
  expect(observations).toMatchObject([{ type: 'retrying', failure: { kind, resetAt: null, remedy: null } }])
  expect(transcript).toContain('claude tries again in 4.9 s (3 of 10)')
})
