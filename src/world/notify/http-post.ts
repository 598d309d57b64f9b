import http from 'node:http'
import https from 'node:https'
import { VERSION } from '../../lib/version.ts'
import { ChannelBusy } from '../../ports/notifications.ts'

/** What a server says beyond this is not read. */
const MAX_RESPONSE_SIZE = 16_384

/** Posts JSON, and answers with what came back. An answer that is not a success is thrown; redirections are not followed. */
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
  /** How long it wants to be left alone, in milliseconds. */
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
    // Without an agent no connection stays open in a supervisor that has nothing to say for hours.
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

/** Seconds, as all of these servers give it; a date is not worth the trouble. */
function parseRetryAfter(header: string | undefined): number | null {
  const seconds = Number(header)
  return header === undefined || !Number.isFinite(seconds) ? null : Math.max(0, seconds * 1_000)
}

/** At most so many characters, without half of one at the end. */
export function truncate(text: string, limit: number): string {
  const characters = Array.from(text)
  return characters.length <= limit ? text : `${characters.slice(0, limit - 1).join('')}…`
}
