import { type Conversation, type Item, textOf, type Tool } from '../conversation.ts'
import { userText } from '../user-text.ts'
import type { Dialect, Frame, Reply } from './dialect.ts'
import { overflow, errorResponse } from './openai.ts'

/** OpenAI Chat Completions. */
export const chat: Dialect = {
  name: 'chat',
  parseRequest,
  fullResponse,
  frames,
  brokenStream: (reply, message) => [
    chunk(reply, { role: 'assistant', content: '' }),
    { data: { error: { message, type: 'server_error', code: 'server_error', param: null } } },
  ],
  errorResponse,
  overflow,
}

interface Body {
  readonly model?: string
  readonly stream?: boolean
  readonly tools?: readonly { readonly function?: { name: string; parameters?: { properties?: Tool['properties'] } } }[]
  readonly messages?: readonly Message[]
}

interface Message {
  readonly role: string
  readonly content?: string | readonly { readonly text?: string }[] | null
  readonly tool_calls?: readonly { readonly id: string }[]
  readonly tool_call_id?: string
}

function parseRequest(body: unknown): Conversation {
  const { model = 'unknown', stream = false, tools = [], messages = [] } = body as Body
  return {
    model,
    isStreamed: stream,
    tools: tools.flatMap(({ function: it }) =>
      it === undefined ? [] : [{ name: it.name, type: 'function', properties: it.parameters?.properties ?? {} }],
    ),
    items: messages.flatMap(items),
  }
}

function items({ role, content, tool_calls = [], tool_call_id = '' }: Message): Item[] {
  if (role === 'tool') return [{ kind: 'result', id: tool_call_id, text: textOf(content) }]
  if (role === 'user') return userItems(content)
  if (role !== 'assistant') return []
  const text = textOf(content)
  return [
    ...(text === '' ? [] : [{ kind: 'said' as const, text }]),
    ...tool_calls.map(({ id }): Item => ({ kind: 'called', id })),
  ]
}

function userItems(content: Message['content']): Item[] {
  const texts = typeof content === 'string' ? [content] : (content ?? []).map(part => part.text ?? '')
  return texts.flatMap(userText)
}

function fullResponse(reply: Reply): unknown {
  const { words, calls } = reply
  const message = {
    role: 'assistant',
    content: words.length === 0 ? null : words.join(''),
    ...(calls.length > 0 && { tool_calls: calls.map((_, n) => toolCall(reply, n)) }),
  }
  const choices = [{ index: 0, message, finish_reason: finishReason(reply) }]
  return { ...envelope(reply), object: 'chat.completion', choices, usage: usage(reply) }
}

function frames(reply: Reply): Frame[] {
  return [
    chunk(reply, { role: 'assistant', content: '' }),
    ...reply.words.map(content => ({ ...chunk(reply, { content }), isWord: true })),
    ...reply.calls.map((_, n) => chunk(reply, { tool_calls: [{ index: n, ...toolCall(reply, n) }] })),
    chunk(reply, {}, finishReason(reply)),
    { data: { ...envelope(reply), object: 'chat.completion.chunk', choices: [], usage: usage(reply) } },
    { data: '[DONE]' },
  ]
}

function chunk(reply: Reply, delta: unknown, finish_reason: string | null = null): Frame {
  const choices = [{ index: 0, delta, finish_reason }]
  return { data: { ...envelope(reply), object: 'chat.completion.chunk', choices } }
}

function toolCall({ calls }: Reply, n: number): Record<string, unknown> {
  const { id, name, input } = calls[n] ?? { id: '', name: '', input: {} }
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } }
}

function envelope({ id, model }: Reply): Record<string, unknown> {
  return { id: `chatcmpl-${id}`, created: Math.floor(Date.now() / 1000), model }
}

function finishReason({ calls }: Reply): string {
  return calls.length === 0 ? 'stop' : 'tool_calls'
}

function usage({ usage: { input, output } }: Reply) {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
}
