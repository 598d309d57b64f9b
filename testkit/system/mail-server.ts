import net, { type AddressInfo, type Socket } from 'node:net'
import tls from 'node:tls'

export interface Mail {
  from: string
  to: string[]
  text: string
  isSecure: boolean
  /** The login as `user:password`; null without a login. */
  login: string | null
}

export interface MailServerOptions {
  /** Listening address; loopback by default. */
  readonly host?: string
  /** TLS: from the start, or after STARTTLS. */
  readonly tls?: { readonly key: string; readonly cert: string; readonly from: 'start' | 'starttls' }
  readonly auth?: 'PLAIN' | 'LOGIN'
  /** Maps a command, with or without its arguments, to the server's answer; an empty string means no answer. */
  readonly refuses?: Readonly<Record<string, string>>
}

/** A small mail server that keeps the mails and forwards none. */
export class MailServer {
  readonly mails: Mail[] = []
  port = 0
  readonly #server: net.Server
  readonly #sockets = new Set<Socket>()

  private constructor(manners: MailServerOptions) {
    const serve = (socket: Socket): void => {
      this.#sockets.add(socket)
      new SmtpSession(manners, this.mails).begin(socket)
    }
    this.#server = manners.tls?.from === 'start' ? tls.createServer(manners.tls, serve) : net.createServer(serve)
  }

  static async open(options: MailServerOptions = {}): Promise<MailServer> {
    const server = new MailServer(options)
    await new Promise<void>(resolve => server.#server.listen(0, options.host ?? '127.0.0.1', resolve))
    server.port = (server.#server.address() as AddressInfo).port
    return server
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise(resolve => this.#server.close(resolve))
  }
}

/** One connection with one mail. */
class SmtpSession {
  readonly #options: MailServerOptions
  readonly #mails: Mail[]
  readonly #mail: Mail = { from: '', to: [], text: '', isSecure: false, login: null }
  /** Handles a line: a command, a part of the mail, or a step of a login. */
  #handleLine: (line: string) => string = line => this.#command(line)

  constructor(options: MailServerOptions, mails: Mail[]) {
    this.#options = options
    this.#mails = mails
  }

  begin(socket: Socket): void {
    this.#mail.isSecure = socket instanceof tls.TLSSocket
    this.#listen(socket)
    socket.write('220 mail.test ready\r\n')
  }

  #listen(socket: Socket): void {
    let rest = ''
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\r\n')
      rest = lines.pop() ?? ''
      for (const line of lines) this.#answer(line, socket)
    })
  }

  #answer(line: string, socket: Socket): void {
    const reply = this.#handleLine(line)
    if (reply !== '') socket.write(`${reply}\r\n`)
    if (line === 'QUIT') socket.end()
    if (line !== 'STARTTLS' || !reply.startsWith('220')) return
    socket.removeAllListeners('data')
    this.#mail.isSecure = true
    this.#listen(new tls.TLSSocket(socket, { isServer: true, ...this.#options.tls }))
  }

  #command(line: string): string {
    const command = line.split(/[ :]/)[0]?.toUpperCase() ?? ''
    const refused = this.#options.refuses?.[line] ?? this.#options.refuses?.[command]
    if (refused !== undefined) return refused
    switch (command) {
      case 'EHLO':
        return this.#offers()
      case 'STARTTLS':
        return '220 go ahead'
      case 'AUTH':
        return this.#logIn(line)
      case 'MAIL':
        this.#mail.from = /<(.*)>/.exec(line)?.[1] ?? ''
        return '250 ok'
      case 'RCPT':
        this.#mail.to.push(/<(.*)>/.exec(line)?.[1] ?? '')
        return '250 ok'
      case 'DATA':
        this.#handleLine = text => this.#readData(text)
        return '354 go on'
      default:
        return command === 'QUIT' ? '221 bye' : '500 what?'
    }
  }

  #offers(): string {
    const { tls: secret, auth } = this.#options
    const offersTls = secret?.from === 'starttls' && !this.#mail.isSecure
    const all = ['mail.test', 'SIZE 1000000', ...(offersTls ? ['STARTTLS'] : []), ...(auth ? [`AUTH ${auth}`] : [])]
    return all.map((offer, i) => `250${i === all.length - 1 ? ' ' : '-'}${offer}`).join('\r\n')
  }

  #logIn(line: string): string {
    if (line.startsWith('AUTH PLAIN ')) {
      this.#mail.login = decoded(line.slice(11)).split('\0').slice(1).join(':')
      return '235 welcome'
    }
    this.#handleLine = user => {
      this.#handleLine = password => {
        this.#mail.login = `${decoded(user)}:${decoded(password)}`
        this.#handleLine = next => this.#command(next)
        return '235 welcome'
      }
      return '334 UGFzc3dvcmQ6'
    }
    return '334 VXNlcm5hbWU6'
  }

  #readData(line: string): string {
    if (line !== '.') {
      this.#mail.text += `${line.startsWith('.') ? line.slice(1) : line}\n`
      return ''
    }
    this.#handleLine = next => this.#command(next)
    const refused = this.#options.refuses?.['.']
    if (refused === undefined) this.#mails.push(this.#mail)
    return refused ?? '250 taken'
  }
}

/** Decodes the subject and the text of a mail. */
export function readMail({ text }: Mail): { subject: string; body: string; headers: string } {
  const [headers = '', ...rest] = text.split('\n\n')
  const unfolded = headers.replaceAll('\n ', '')
  const subject = /^Subject: (.*)$/m.exec(unfolded)?.[1] ?? ''
  const joined = subject.replaceAll(/\?=\s+(?==\?)/g, '?=')
  const plain = joined.replaceAll(/=\?utf-8\?B\?([^?]*)\?=/gi, (_, word: string) => decoded(word))
  return { subject: plain, body: decoded(rest.join('\n\n')), headers: unfolded }
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString()
}
