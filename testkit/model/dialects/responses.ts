import { type Call, type Conversation, type Item, textOf, type Tool } from '../conversation.ts'
import { userText } from '../user-text.ts'
import type { Dialect, Frame, Reply } from './dialect.ts'
import { overflow, errorResponse } from './openai.ts'

/** OpenAI Responses. */
export const responses: Dialect = {
  name: 'responses',
  parseRequest,
  fullResponse: reply => response(reply, 'completed', { output: outputs(reply), usage: usage(reply) }),
  frames: reply => numbered([...begin(reply), ...body(reply), end(reply)]),
  brokenStream: (reply, message) => failureFrames(reply, 'server_error', message),
  errorResponse,
  overflow,
  overflowing: reply =>
    failureFrames(reply, 'context_length_exceeded', 'Your input exceeds the context window of this model.'),
}

interface Body {
  readonly model?: string
  readonly stream?: boolean
  readonly tools?: readonly {
    readonly type: string
    readonly name?: string
    parameters?: { properties?: Tool['properties'] }
  }[]
  readonly input?: string | readonly Entry[]
}

interface Entry {
  readonly type?: string
  readonly role?: string
  readonly content?: string | readonly { readonly text?: string }[]
  readonly call_id?: string
  readonly output?: unknown
}

function parseRequest(body: unknown): Conversation {
  const { model = 'unknown', stream = false, tools = [], input = [] } = body as Body
  const entries = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  return { model, isStreamed: stream, tools: tools.flatMap(tool), items: entries.flatMap(items) }
}

function tool({ type, name, parameters }: NonNullable<Body['tools']>[number]): Tool[] {
  if (type === 'local_shell') return [{ name: 'local_shell', type: 'local_shell', properties: {} }]
  if (type !== 'function' || name === undefined) return []
  return [{ name, type: 'function', properties: parameters?.properties ?? {} }]
}

function items({ type = 'message', role, content = '', call_id = '', output }: Entry): Item[] {
  if (type.endsWith('_call_output')) {
    return [{ kind: 'result', id: call_id, text: typeof output === 'string' ? output : textOf(output) }]
  }
  if (type.endsWith('_call')) return [{ kind: 'called', id: call_id }]
  if (type !== 'message') return []
  if (role === 'assistant') return [{ kind: 'said', text: textOf(content) }]
  if (role !== 'user') return []
  const texts = typeof content === 'string' ? [content] : content.map(part => part.text ?? '')
  return texts.flatMap(userText)
}

function begin(reply: Reply): Frame[] {
  return [
    frame('response.created', { response: response(reply, 'in_progress') }),
    frame('response.in_progress', { response: response(reply, 'in_progress') }),
  ]
}

function body(reply: Reply): Frame[] {
  const spoken = reply.words.length === 0 ? [] : message(reply)
  const first = spoken.length === 0 ? 0 : 1
  return [...spoken, ...reply.calls.flatMap((call, n) => toolCallFrames(call, first + n))]
}

function message(reply: Reply): Frame[] {
  const item = messageItem(reply)
  const place = { item_id: item['id'], output_index: 0, content_index: 0 }
  const part = { type: 'output_text', annotations: [] }
  const text = reply.words.join('')
  return [
    frame('response.output_item.added', {
      output_index: 0,
      item: { ...item, status: 'in_progress', content: [] },
    }),
    frame('response.content_part.added', { ...place, part: { ...part, text: '' } }),
    ...reply.words.map(delta => ({ ...frame('response.output_text.delta', { ...place, delta }), isWord: true })),
    frame('response.output_text.done', { ...place, text }),
    frame('response.content_part.done', { ...place, part: { ...part, text } }),
    frame('response.output_item.done', { output_index: 0, item }),
  ]
}

function toolCallFrames(call: Call, output_index: number): Frame[] {
  const item = callItem(call)
  return [
    frame('response.output_item.added', { output_index, item: { ...item, status: 'in_progress' } }),
    frame('response.output_item.done', { output_index, item }),
  ]
}

function end(reply: Reply): Frame {
  const full = response(reply, 'completed', { output: outputs(reply), usage: usage(reply) })
  return frame('response.completed', { response: full })
}

function failureFrames(reply: Reply, code: string, text: string): Frame[] {
  const error = { code, message: text }
  return numbered([...begin(reply), frame('response.failed', { response: response(reply, 'failed', { error }) })])
}

function outputs(reply: Reply): unknown[] {
  return [...(reply.words.length === 0 ? [] : [messageItem(reply)]), ...reply.calls.map(callItem)]
}

function messageItem({ id, words }: Reply): Record<string, unknown> {
  const content = [{ type: 'output_text', text: words.join(''), annotations: [] }]
  return { type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content }
}

function callItem({ id, name, type, input }: Call): Record<string, unknown> {
  const common = { id: `fc_${id}`, call_id: id, status: 'completed' }
  if (type === 'local_shell') return { ...common, type: 'local_shell_call', action: { type: 'exec', ...input } }
  return { ...common, type: 'function_call', name, arguments: JSON.stringify(input) }
}

function response({ id, model }: Reply, status: string, more: object = {}): Record<string, unknown> {
  const created_at = Math.floor(Date.now() / 1000)
  return { id: `resp_${id}`, object: 'response', created_at, status, model, output: [], error: null, ...more }
}

function usage({ usage: { input, output } }: Reply) {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  }
}

function frame(type: string, rest: object): Frame {
  return { event: type, data: { type, ...rest } }
}

function numbered(frames: readonly Frame[]): Frame[] {
  return frames.map((it, sequence_number) => ({ ...it, data: { ...(it.data as object), sequence_number } }))
}
