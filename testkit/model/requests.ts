import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Conversation } from './conversation.ts'
import { anthropic } from './dialects/anthropic.ts'
import { chat } from './dialects/chat.ts'
import type { Dialect } from './dialects/dialect.ts'
import { gemini } from './dialects/gemini.ts'
import { responses } from './dialects/responses.ts'
import type { Answer } from './script.ts'

/** A request as the server records it. */
export interface Request {
  /** Epoch milliseconds. */
  readonly at: number
  readonly script: string
  readonly method: string
  /** Path without the script's name. */
  readonly path: string
  readonly dialect: Dialect['name'] | null
  /**
   * True for a turn of the work, which the script answers; other requests ask for titles, token counts and the like.
   */
  readonly isMain: boolean
  /** Headers without secrets. */
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
  readonly conversation: Conversation | null
  /** The script's answer; null for requests that are no main turns. */
  answer: Answer | null
}

/** Returns the user's messages in order, without tool results and additions of the programs. */
export function userMessages({ conversation }: Request): string[] {
  return (conversation?.items ?? []).flatMap(item => (item.kind === 'user' ? [item.text] : []))
}

const ROUTES: readonly (readonly [ending: string, dialect: Dialect])[] = [
  ['/v1/messages', anthropic],
  ['/v1/messages/count_tokens', anthropic],
  ['/v1/responses', responses],
  ['/v1/chat/completions', chat],
  [':generateContent', gemini],
  [':streamGenerateContent', gemini],
  [':countTokens', gemini],
]

export function dialectOf(path: string): Dialect | undefined {
  return ROUTES.find(([ending]) => path.endsWith(ending))?.[1]
}

const SECRET_HEADERS = ['authorization', 'proxy-authorization', 'x-api-key', 'api-key', 'x-goog-api-key', 'cookie']

/** Reads a request to its end. */
export async function readRequest(message: IncomingMessage): Promise<Omit<Request, 'isMain' | 'answer'>> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  const { pathname } = new URL(message.url ?? '/', 'http://localhost')
  const [, script = '', ...rest] = pathname.split('/')
  const path = `/${rest.join('/')}`
  const body = parse(Buffer.concat(chunks).toString())
  const dialect = message.method === 'POST' ? dialectOf(path) : undefined
  return {
    at: Date.now(),
    script: decodeURIComponent(script),
    method: message.method ?? 'GET',
    path,
    dialect: dialect?.name ?? null,
    headers: Object.fromEntries(Object.entries(message.headers).filter(([name]) => !SECRET_HEADERS.includes(name))),
    body,
    conversation: dialect === undefined || body === null ? null : dialect.parseRequest(body, path),
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null // A request without a body, such as a request for the list of models.
  }
}
