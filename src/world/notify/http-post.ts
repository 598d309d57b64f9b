import http from 'node:http'
import https from 'node:https'
import { VERSION } from '../../lib/version.ts'
import { ChannelBusy } from '../../ports/notifications.ts'

/** Maximum bytes of a server's response that we read. */
const MAX_RESPONSE_SIZE = 16_384

/** Posts JSON and returns the response. Throws on any status but success; follows no redirects. */
export async function postJson(
  url: URL,
  body: unknown,
  { signal, headers = {} }: { signal: AbortSignal; headers?: Readonly<Record<string, string>> },
): Promise<string> {
  const { status, text, wait } = await sendRequest(url, JSON.stringify(body), signal, headers)
  if (status >= 200 && status < 300) return text
  const excerpt = text.trim().slice(0, 200).replaceAll(/\s+/g, ' ')
  const message = `${url.host} answered with status ${status}${excerpt === '' ? '' : `: ${excerpt}`}`
  throw wait === null ? new Error(message) : new ChannelBusy('posting', message, wait)
}

export function bearerHeader(token: { reveal(): string } | null): Record<string, string> {
  return token === null ? {} : { authorization: `Bearer ${token.reveal()}` }
}

interface HttpResponse {
  readonly status: number
  readonly text: string
  /** Milliseconds that the server asks us to wait. */
  readonly wait: number | null
}

function sendRequest(url: URL, body: string, signal: AbortSignal, headers: Readonly<Record<string, string>>) {
  const { request } = url.protocol === 'https:' ? https : http
  return new Promise<HttpResponse>((resolve, reject) => {
    const allHeaders = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': `oneshot/${VERSION}`,
      ...headers,
    }
    // Without an agent, no connection stays open in a supervisor that sends nothing for hours.
    const clientRequest = request(url, { method: 'POST', headers: allHeaders, signal, agent: false }, response => {
      const chunks: Buffer[] = []
      let size = 0
      const finish = (): void => {
        const text = Buffer.concat(chunks).toString()
        resolve({ status: response.statusCode ?? 0, text, wait: parseRetryAfter(response.headers['retry-after']) })
      }
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size <= MAX_RESPONSE_SIZE) return chunks.push(chunk)
        response.destroy()
        return finish()
      })
      response.on('end', finish)
      response.on('error', reject)
    })
    clientRequest.on('error', reject)
    clientRequest.end(body)
  })
}

/** Parses seconds, which all of these servers send; ignores a date. */
function parseRetryAfter(header: string | undefined): number | null {
  const seconds = Number(header)
  return header === undefined || !Number.isFinite(seconds) ? null : Math.max(0, seconds * 1_000)
}

/** Cuts a text to `limit` characters without splitting one. */
export function truncate(text: string, limit: number): string {
  const characters = Array.from(text)
  return characters.length <= limit ? text : `${characters.slice(0, limit - 1).join('')}…`
}
