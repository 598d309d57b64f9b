import type { Conversation, Item, Tool } from '../conversation.ts'
import { userText } from '../user-text.ts'
import type { Refusal } from '../script.ts'
import { type Dialect, type Frame, type ErrorResponse, type Reply, retryHeader } from './dialect.ts'

/** Gemini generateContent. */
export const gemini: Dialect = {
  name: 'gemini',
  parseRequest,
  fullResponse: reply => chunk(reply, [...textParts(reply.words.join('')), ...callParts(reply)], true),
  frames,
  brokenStream: (reply, message) => [
    { data: chunk(reply, []) },
    { data: failure(503, { status: 'UNAVAILABLE', message }) },
  ],
  errorResponse,
  overflow: {
    status: 400,
    headers: {},
    body: failure(400, {
      status: 'INVALID_ARGUMENT',
      message: 'The input token count exceeds the maximum number of tokens allowed.',
    }),
  },
}

interface Body {
  readonly contents?: readonly { readonly role?: string; readonly parts?: readonly Part[] }[]
  readonly tools?: readonly { readonly functionDeclarations?: readonly Declaration[] }[]
}

interface Declaration {
  readonly name: string
  readonly parametersJsonSchema?: { readonly properties?: Tool['properties'] }
}

interface Part {
  readonly text?: string
  readonly thought?: boolean
  readonly functionCall?: { readonly id?: string }
  readonly functionResponse?: { readonly id?: string; readonly response?: unknown }
}

/** Parses a request. The path contains the model and whether to stream. */
function parseRequest(body: unknown, path: string): Conversation {
  const { contents = [], tools = [] } = body as Body
  return {
    model: /models\/([^:]+)/.exec(path)?.[1] ?? 'unknown',
    isStreamed: path.endsWith(':streamGenerateContent'),
    tools: tools.flatMap(({ functionDeclarations = [] }) =>
      functionDeclarations.map(({ name, parametersJsonSchema }) => ({
        name,
        type: 'function',
        properties: parametersJsonSchema?.properties ?? {},
      })),
    ),
    items: contents.flatMap(({ role, parts = [] }) => parts.flatMap(part => item(role, part))),
  }
}

function item(role: string | undefined, { text, thought, functionCall, functionResponse }: Part): Item[] {
  if (functionCall !== undefined) return [{ kind: 'called', id: functionCall.id ?? '' }]
  if (functionResponse !== undefined) {
    const { id = '', response } = functionResponse
    return [{ kind: 'result', id, text: JSON.stringify(response) }]
  }
  if (text === undefined || thought === true) return []
  return role === 'model' ? [{ kind: 'said', text }] : userText(text)
}

function frames(reply: Reply): Frame[] {
  return [
    ...reply.words.map(word => ({ data: chunk(reply, textParts(word)), isWord: true })),
    { data: chunk(reply, callParts(reply), true) },
  ]
}

function chunk({ id, model, usage: { input, output } }: Reply, parts: readonly unknown[], isLast = false): unknown {
  const usageMetadata = {
    promptTokenCount: input,
    candidatesTokenCount: output,
    totalTokenCount: input + output,
  }
  const candidate = { content: { role: 'model', parts }, index: 0, ...(isLast && { finishReason: 'STOP' }) }
  return { candidates: [candidate], usageMetadata, modelVersion: model, responseId: `resp_${id}` }
}

function textParts(text: string): unknown[] {
  return text === '' ? [] : [{ text }]
}

function callParts({ calls }: Reply): unknown[] {
  return calls.map(({ id, name, input }) => ({ functionCall: { id, name, args: input } }))
}

const KINDS: Readonly<Record<number, readonly [status: string, message: string]>> = {
  400: ['INVALID_ARGUMENT', 'Bad request'],
  401: ['UNAUTHENTICATED', 'API key not valid. Please pass a valid API key.'],
  403: ['PERMISSION_DENIED', 'The caller does not have permission'],
  404: ['NOT_FOUND', 'The model is not found'],
  429: ['RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).'],
  529: ['UNAVAILABLE', 'The model is overloaded. Please try again later.'],
}

function errorResponse(refusal: Refusal): ErrorResponse {
  const [status, usual] = KINDS[refusal.status] ?? ['INTERNAL', 'An internal error has occurred.']
  return {
    status: refusal.status,
    headers: retryHeader(refusal),
    body: failure(refusal.status, { status, message: refusal.message ?? usual }),
  }
}

function failure(code: number, { status, message }: { status: string; message: string }): unknown {
  return { error: { code, message, status } }
}
