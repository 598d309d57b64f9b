import http from 'node:http'
import https from 'node:https'
import { VERSION } from '../../lib/version.ts'
import { Busy } from '../../ports/notifier.ts'

/** What a server says beyond this is not read. */
const LONGEST_ANSWER = 16_384

/** Posts JSON, and answers with what came back. An answer that is not a success is thrown; redirections are not followed. */
export async function post(
  url: URL,
  body: unknown,
  { signal, headers = {} }: { signal: AbortSignal; headers?: Readonly<Record<string, string>> },
): Promise<string> {
  const { status, text, wait } = await exchange(url, JSON.stringify(body), signal, headers)
  if (status >= 200 && status < 300) return text
  const said = text.trim().slice(0, 200).replaceAll(/\s+/g, ' ')
  const words = `${url.host} answered with status ${status}${said === '' ? '' : `: ${said}`}`
  throw wait === null ? new Error(words) : new Busy('posting', words, wait)
}

export function bearer(token: { reveal(): string } | null): Record<string, string> {
  return token === null ? {} : { authorization: `Bearer ${token.reveal()}` }
}

interface Answer {
  readonly status: number
  readonly text: string
  /** How long it wants to be left alone, in milliseconds. */
  readonly wait: number | null
}

function exchange(url: URL, body: string, signal: AbortSignal, headers: Readonly<Record<string, string>>) {
  const { request } = url.protocol === 'https:' ? https : http
  return new Promise<Answer>((resolve, reject) => {
    const all = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': `oneshot/${VERSION}`,
      ...headers,
    }
    // Without an agent no connection stays open in a supervisor that has nothing to say for hours.
    const call = request(url, { method: 'POST', headers: all, signal, agent: false }, response => {
      const chunks: Buffer[] = []
      let size = 0
      const finish = (): void => {
        const text = Buffer.concat(chunks).toString()
        resolve({ status: response.statusCode ?? 0, text, wait: waitIn(response.headers['retry-after']) })
      }
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size <= LONGEST_ANSWER) return chunks.push(chunk)
        response.destroy()
        return finish()
      })
      response.on('end', finish)
      response.on('error', reject)
    })
    call.on('error', reject)
    call.end(body)
  })
}

/** Seconds, as all of these servers give it; a date is not worth the trouble. */
function waitIn(header: string | undefined): number | null {
  const seconds = Number(header)
  return header === undefined || !Number.isFinite(seconds) ? null : Math.max(0, seconds * 1_000)
}
