import { type Conversation, type Item, textOf, type Tool } from '../conversation.ts'
import { forwardedUserText, userText } from '../user-text.ts'
import type { Refusal } from '../script.ts'
import { type Dialect, type Frame, type ErrorResponse, type Reply, retryHeader } from './dialect.ts'

/** Anthropic Messages. */
export const anthropic: Dialect = {
  name: 'anthropic',
  parseRequest,
  fullResponse,
  frames: reply => [begin(reply), ...blocks(reply), ...end(reply)],
  brokenStream: (reply, message) => [
    begin(reply),
    frame({ type: 'error', error: { type: 'overloaded_error', message } }),
  ],
  errorResponse,
  overflow: {
    status: 400,
    headers: {},
    body: failure('invalid_request_error', 'prompt is too long: 215000 tokens > 200000 maximum'),
  },
}

interface Body {
  readonly model?: string
  readonly stream?: boolean
  readonly tools?: readonly { readonly name: string; readonly input_schema?: { properties?: Tool['properties'] } }[]
  readonly messages?: readonly { readonly role: string; readonly content: string | readonly Part[] }[]
}

interface Part {
  readonly type: string
  readonly text?: string
  readonly id?: string
  readonly tool_use_id?: string
  readonly content?: unknown
}

function parseRequest(body: unknown): Conversation {
  const { model = 'unknown', stream = false, tools = [], messages = [] } = body as Body
  return {
    model,
    isStreamed: stream,
    tools: tools.map(({ name, input_schema }) => ({
      name,
      type: 'function',
      properties: input_schema?.properties ?? {},
    })),
    items: messages.flatMap(items).filter((it, place, all) => !isInterruptionNote(it, all[place + 1])),
  }
}

function items({ role, content }: NonNullable<Body['messages']>[number]): Item[] {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  return parts.map(withoutSeam).flatMap(part => item(role, part))
}

/** Removes the newline with which claude 2.1 ends a text when it merges two consecutive messages. */
function withoutSeam(part: Part, place: number, parts: readonly Part[]): Part {
  const isAtSeam = part.type === 'text' && parts[place + 1]?.type === 'text'
  return isAtSeam ? { ...part, text: (part.text ?? '').replace(/\n$/, '') } : part
}

/** Returns true for the exchange that claude 2.1.197 inserts between an interrupted turn and the next user message. */
function isInterruptionNote(item: Item, next: Item | undefined): boolean {
  const isAsked = item.kind === 'user' && item.text === 'Continue from where you left off.'
  return isAsked && next?.kind === 'said' && next.text === 'No response requested.'
}

/** Converts a part. claude 2.1 also sends messages with the role `system` between the others. */
function item(role: string, { type, text = '', id = '', tool_use_id = '', content }: Part): Item[] {
  if (type === 'tool_result') return [{ kind: 'result', id: tool_use_id, text: textOf(content) }]
  if (type === 'tool_use') return [{ kind: 'called', id }]
  if (type !== 'text') return []
  if (role === 'assistant') return [{ kind: 'said', text }]
  return role === 'user' ? userText(text) : forwardedUserText(text)
}

function fullResponse(reply: Reply): unknown {
  const text = reply.words.join('')
  return {
    ...message(reply),
    content: [
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...reply.calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
    ],
    stop_reason: stopReason(reply),
    usage: usage(reply),
  }
}

function begin(reply: Reply): Frame {
  const { input_tokens } = usage(reply)
  return frame({ type: 'message_start', message: { ...message(reply), usage: { input_tokens, output_tokens: 1 } } })
}

function blocks({ words, calls }: Reply): Frame[] {
  const text = words.length === 0 ? [] : textBlock(words)
  const first = text.length === 0 ? 0 : 1
  return [
    ...text,
    ...calls.flatMap(({ id, name, input }, n) =>
      block(first + n, { type: 'tool_use', id, name, input: {} }, [
        { delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) } },
      ]),
    ),
  ]
}

function textBlock(words: readonly string[]): Frame[] {
  const deltas = words.map(text => ({ delta: { type: 'text_delta', text }, isWord: true }))
  return block(0, { type: 'text', text: '' }, deltas)
}

function block(
  index: number,
  content_block: unknown,
  deltas: readonly { delta: unknown; isWord?: boolean }[],
): Frame[] {
  return [
    frame({ type: 'content_block_start', index, content_block }),
    ...deltas.map(({ delta, isWord = false }) => ({
      ...frame({ type: 'content_block_delta', index, delta }),
      isWord,
    })),
    frame({ type: 'content_block_stop', index }),
  ]
}

function end(reply: Reply): Frame[] {
  const delta = { stop_reason: stopReason(reply), stop_sequence: null }
  return [frame({ type: 'message_delta', delta, usage: usage(reply) }), frame({ type: 'message_stop' })]
}

function frame(data: { type: string; [field: string]: unknown }): Frame {
  return { event: data.type, data }
}

function message({ id, model }: Reply): Record<string, unknown> {
  const nothing = { content: [], stop_reason: null, stop_sequence: null }
  return { id: `msg_${id}`, type: 'message', role: 'assistant', model, ...nothing }
}

function stopReason({ calls }: Reply): string {
  return calls.length === 0 ? 'end_turn' : 'tool_use'
}

function usage({ usage: { input, output } }: Reply) {
  return {
    input_tokens: input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: output,
  }
}

const KINDS: Readonly<Record<number, readonly [type: string, message: string]>> = {
  400: ['invalid_request_error', 'Bad request'],
  401: ['authentication_error', 'invalid x-api-key'],
  403: ['permission_error', 'Your account does not have permission to use this resource.'],
  404: ['not_found_error', 'model: not found'],
  429: ['rate_limit_error', 'This request would exceed your rate limit.'],
  529: ['overloaded_error', 'Overloaded'],
}

function errorResponse(refusal: Refusal): ErrorResponse {
  const [type, usual] = KINDS[refusal.status] ?? ['api_error', 'Internal server error']
  return {
    status: refusal.status,
    headers: { ...retryHeader(refusal), ...limitHeaders(refusal) },
    body: failure(type, refusal.message ?? usual),
  }
}

function limitHeaders({ resetAt }: Refusal): Record<string, string> {
  if (resetAt === undefined) return {}
  const unified = {
    status: 'rejected',
    reset: String(resetAt),
    'representative-claim': 'five_hour',
    '5h-status': 'rejected',
    '5h-reset': String(resetAt),
    'overage-status': 'rejected',
  }
  const named = Object.entries(unified).map(([name, value]) => [`anthropic-ratelimit-unified-${name}`, value])
  return { 'x-should-retry': 'false', ...Object.fromEntries(named) }
}

function failure(type: string, message: string): unknown {
  return { type: 'error', error: { type, message } }
}
