import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sendRequest, readEvents } from '../send-request.ts'
import { ModelServer } from '../model-server.ts'
import type { Script } from '../script.ts'

const BOTH: Script = [{ say: 'Hello to  you.', shell: 'ls', usage: { input: 7, output: 3 } }]

let server: ModelServer
beforeAll(async () => {
  server = await ModelServer.open()
})
afterAll(() => server.close())

/** Plays a script from its start and returns its URL. */
function playing(script: Script): string {
  server.play('it', script)
  return server.url('it')
}

describe('Anthropic Messages', () => {
  test('streams words and a call', async () => {
    const seen = await readEvents(await sendRequest(playing(BOTH), { dialect: 'anthropic' }))
    expect(seen.map(({ type }) => type)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    expect(seen[6]).toEqual({
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 'call_p0_0', name: 'Bash', input: {} },
    })
    expect(seen[7]?.['delta']).toEqual({
      type: 'input_json_delta',
      partial_json: '{"command":"ls","description":"Run a command"}',
    })
  })

  test('answers in one piece', async () => {
    const reply = await (await sendRequest(playing(BOTH), { dialect: 'anthropic', isStreamed: false })).json()
    expect(reply).toMatchObject({
      role: 'assistant',
      stop_reason: 'tool_use',
      usage: { input_tokens: 7, output_tokens: 3 },
      content: [
        { type: 'text', text: 'Hello to  you.' },
        { type: 'tool_use', id: 'call_p0_0', name: 'Bash', input: { command: 'ls' } },
      ],
    })
  })
})

describe('OpenAI Responses', () => {
  test('streams words and a call', async () => {
    const seen = await readEvents(await sendRequest(playing(BOTH), { dialect: 'responses' }))
    const deltas = seen.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta)
    expect(deltas).toEqual(['Hello', ' to', '  you.'])
    expect(seen.map(({ sequence_number }) => sequence_number)).toEqual(seen.map((_, place) => place))
    expect(seen.at(-1)).toMatchObject({
      type: 'response.completed',
      response: {
        status: 'completed',
        usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
        output: [
          { type: 'message', content: [{ type: 'output_text', text: 'Hello to  you.' }] },
          { type: 'function_call', call_id: 'call_p0_0', name: 'exec_command', arguments: '{"cmd":"ls"}' },
        ],
      },
    })
  })

  test('answers in one piece', async () => {
    const reply = await (
      await sendRequest(playing([{ say: 'Hi.' }]), { dialect: 'responses', isStreamed: false })
    ).json()
    expect(reply).toMatchObject({ object: 'response', status: 'completed', output: [{ type: 'message' }] })
  })

  test('writes a file by a command if the program has no tool for it', async () => {
    const script: Script = [{ write: { path: '/tmp/a b', content: "it's" } }]
    const seen = await readEvents(await sendRequest(playing(script), { dialect: 'responses' }))
    const item = seen.find(({ type }) => type === 'response.output_item.done')?.['item'] as { arguments: string }
    expect(JSON.parse(item.arguments)).toEqual({ cmd: `printf %s 'it'\\''s' > '/tmp/a b'` })
  })
})

describe('OpenAI Chat Completions', () => {
  test('streams words and a call', async () => {
    const response = await sendRequest(playing(BOTH), { dialect: 'chat' })
    const seen = (await readEvents(response)) as {
      choices: { delta: { content?: string }; finish_reason: string | null }[]
    }[]
    expect(seen.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Hello to  you.')
    expect(seen.at(-3)?.choices[0]?.delta).toEqual({
      tool_calls: [
        { index: 0, id: 'call_p0_0', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } },
      ],
    })
    expect(seen.at(-2)?.choices[0]?.finish_reason).toBe('tool_calls')
    expect(seen.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } })
  })

  test('answers in one piece', async () => {
    const script: Script = [{ write: { path: '/tmp/a', content: 'x' } }]
    const reply = await (await sendRequest(playing(script), { dialect: 'chat', isStreamed: false })).json()
    expect(reply).toMatchObject({
      choices: [
        {
          finish_reason: 'tool_calls',
          message: {
            content: null,
            tool_calls: [{ function: { name: 'write', arguments: '{"path":"/tmp/a","content":"x"}' } }],
          },
        },
      ],
    })
  })
})

describe('Gemini generateContent', () => {
  const body = JSON.stringify({
    contents: [
      { role: 'user', parts: [{ text: '<session_context>…</session_context>' }, { text: 'Do the task' }] },
      { role: 'model', parts: [{ functionCall: { id: 'call_0_0', name: 'run_shell_command' } }] },
      { role: 'user', parts: [{ functionResponse: { id: 'call_0_0', response: { output: '' } } }] },
    ],
    tools: [
      {
        functionDeclarations: [
          { name: 'run_shell_command', parametersJsonSchema: { properties: { command: { type: 'string' } } } },
        ],
      },
    ],
  })
  const task: Script = { task: [{ shell: 'one' }, { say: 'Now two.', shell: 'two' }] }
  const call = { functionCall: { id: 'call_1_0', name: 'run_shell_command', args: { command: 'two' } } }

  test('streams words and a call', async () => {
    const url = `${playing(task)}/v1beta/models/mock-model:streamGenerateContent?alt=sse`
    const seen = await readEvents(await fetch(url, { method: 'POST', body }))
    expect(seen.map(({ candidates }) => candidates)).toEqual([
      [{ content: { role: 'model', parts: [{ text: 'Now' }] }, index: 0 }],
      [{ content: { role: 'model', parts: [{ text: ' two.' }] }, index: 0 }],
      [{ content: { role: 'model', parts: [call] }, index: 0, finishReason: 'STOP' }],
    ])
  })

  test('answers in one piece', async () => {
    const url = `${playing(task)}/v1beta/models/mock-model:generateContent`
    expect(await (await fetch(url, { method: 'POST', body })).json()).toMatchObject({
      candidates: [{ content: { parts: [{ text: 'Now two.' }, call] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 10 },
    })
  })
})
