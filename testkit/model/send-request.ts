import type { Dialect } from './dialects/dialect.ts'

type Name = Exclude<Dialect['name'], 'gemini'>

/** A shell tool and a file tool, with the names and schemas of programs that use each dialect. */
const TOOLS: Readonly<Record<Name, readonly unknown[]>> = {
  anthropic: [
    { name: 'Bash', input_schema: { properties: { command: { type: 'string' }, description: { type: 'string' } } } },
    { name: 'Write', input_schema: { properties: { file_path: { type: 'string' }, content: { type: 'string' } } } },
  ],
  responses: [{ type: 'function', name: 'exec_command', parameters: { properties: { cmd: { type: 'string' } } } }],
  chat: [
    { type: 'function', function: { name: 'bash', parameters: { properties: { command: { type: 'string' } } } } },
    { type: 'function', function: { name: 'write', parameters: { properties: { path: {}, content: {} } } } },
  ],
}

const PATHS: Readonly<Record<Name, string>> = {
  anthropic: '/v1/messages',
  responses: '/v1/responses',
  chat: '/v1/chat/completions',
}

export interface ModelRequest {
  readonly dialect: Name
  /** Messages in the form of the dialect, after a first user message. */
  readonly history?: readonly unknown[]
  readonly isStreamed?: boolean
  readonly hasTools?: boolean
  readonly signal?: AbortSignal
}

/** Sends a request to a model as a program does. */
export function sendRequest(
  url: string,
  { dialect, history = [], isStreamed = true, hasTools = true, signal }: ModelRequest,
): Promise<Response> {
  const messages = [{ role: 'user', content: 'Do the task' }, ...history]
  const body = {
    model: 'mock-model',
    stream: isStreamed,
    [dialect === 'responses' ? 'input' : 'messages']: messages,
    ...(hasTools && { tools: TOOLS[dialect] }),
  }
  const headers = { 'content-type': 'application/json', authorization: 'Bearer secret' }
  const method = 'POST'
  return fetch(`${url}${PATHS[dialect]}`, { method, headers, body: JSON.stringify(body), ...(signal && { signal }) })
}

/** Returns the parsed events of a stream, in order. */
export async function readEvents(response: Response): Promise<Record<string, unknown>[]> {
  const text = await response.text()
  return text
    .split('\n')
    .filter(line => line.startsWith('data: {'))
    .map(line => JSON.parse(line.slice('data: '.length)) as Record<string, unknown>)
}
