import http from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Recorded {
  readonly method: string
  readonly path: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
}

/** The response: a status, or none at all. */
export type Reply = number | 'hang' | { readonly status: number; readonly headers?: object; readonly body?: string }

/** A web server that records requests. A test can preset the next replies; after those it replies with success. */
export class RecordingServer {
  readonly requests: Recorded[] = []
  readonly replies: Reply[] = []
  /** Reply to every request; takes precedence over preset replies. */
  always: Reply | undefined
  readonly #server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      this.requests.push({ method, path, headers, body: Buffer.concat(chunks).toString() })
      const reply = this.always ?? this.replies.shift() ?? 200
      if (reply === 'hang') return
      const { status, headers: more = {}, body = '' } = typeof reply === 'number' ? { status: reply } : reply
      response.writeHead(status, { ...more }).end(body)
    })
  })

  static async open(): Promise<RecordingServer> {
    const recording = new RecordingServer()
    await new Promise<void>(resolve => recording.#server.listen(0, '127.0.0.1', resolve))
    return recording
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  bodies(): unknown[] {
    return this.requests.map(({ body }) => JSON.parse(body) as unknown)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }
}
