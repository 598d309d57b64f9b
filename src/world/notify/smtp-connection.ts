import type { Socket } from 'node:net'
import tls from 'node:tls'

/** A longer reply counts as an error. */
const MAX_REPLY_LENGTH = 65_536

/** A connection to a mail server that expects one reply to each command. */
export class SmtpConnection {
  #socket: Socket
  #received = ''
  #failure: Error | undefined
  #listener: (() => void) | undefined

  constructor(socket: Socket) {
    this.#socket = socket
    this.#listen(socket)
  }

  get isSecure(): boolean {
    return this.#socket instanceof tls.TLSSocket
  }

  get isLocal(): boolean {
    return /^(::ffff:)?127\.|^::1$/.test(this.#socket.remoteAddress ?? '')
  }

  /** Sends a command and returns the lines of the reply without their code. */
  send(command: string, code: number): Promise<string> {
    this.#socket.write(`${command}\r\n`)
    return this.expectReply(code)
  }

  /** Errors do not quote the command: it may contain a password. */
  async expectReply(code: number): Promise<string> {
    for (;;) {
      const [whole, last] = /^(?:\d{3}-.*\r?\n)*(\d{3})(?: .*)?\r?\n/.exec(this.#received) ?? []
      if (whole !== undefined) {
        this.#received = this.#received.slice(whole.length)
        if (Number(last) === code || (code === 250 && last === '251')) return whole.replaceAll(/^\d{3}[ -]?/gm, '')
        throw new Error(`the mail server said ${whole.trim().split('\n').at(-1)?.trim()}`)
      }
      if (this.#failure !== undefined) throw this.#failure
      await new Promise<void>(resolve => {
        this.#listener = resolve
      })
    }
  }

  /** Switches to TLS and discards everything received before. */
  async startTls(options: { host: string; servername?: string }): Promise<void> {
    const plain = this.#socket
    plain.removeAllListeners('data')
    this.#received = ''
    const secured = tls.connect({ ...options, socket: plain })
    this.#socket = secured
    await new Promise<void>((resolve, reject) => {
      secured.once('secureConnect', resolve)
      secured.once('error', reject)
      plain.once('close', () => reject(new Error('the mail server hung up')))
    })
    this.#listen(secured)
  }

  quit(): void {
    this.#socket.end('QUIT\r\n')
  }

  destroy(cause?: Error): void {
    if (cause !== undefined) this.#fail(cause)
    if (cause !== undefined || !this.#socket.writableEnded) this.#socket.destroy()
    else this.#socket.setTimeout(1_000, () => this.#socket.destroy())
  }

  #listen(socket: Socket): void {
    socket.on('data', (chunk: Buffer) => {
      this.#received += chunk.toString('latin1')
      if (this.#received.length > MAX_REPLY_LENGTH) this.destroy(new Error('the mail server did not stop sending'))
      this.#listener?.()
    })
    socket.on('error', cause => this.#fail(cause))
    socket.on('close', () => this.#fail(new Error('the mail server hung up')))
  }

  #fail(cause: Error): void {
    this.#failure ??= cause
    this.#listener?.()
  }
}
