import net, { type Socket } from 'node:net'
import os from 'node:os'
import MailComposer from 'nodemailer/lib/mail-composer'
import SmtpConnection from 'nodemailer/lib/smtp-connection'
import type { Notification } from '../../core/notify/notification.ts'

/** A longer reply of the server counts as an error. */
const MAX_REPLY_LENGTH = 65_536

export interface Mail {
  readonly from: string
  readonly to: readonly string[]
  readonly text: string
}

/** Composes header and body in pure ASCII, so that no text in them can act as mail syntax. */
export async function composeMail(
  { id, heading, text }: Notification,
  from: string,
  to: readonly string[],
): Promise<Mail> {
  const mail = new MailComposer({
    from: { name: 'oneshot', address: from },
    to: [...to],
    subject: `oneshot: ${heading}`,
    messageId: `<${id}@oneshot.invalid>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    // The composer would change the line ends of a string.
    text: Buffer.from(`${text}\n`),
    textEncoding: 'base64',
    newline: '\r\n',
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return { from, to, text: (await mail.compile().build()).toString('latin1') }
}

/**
 * Sends one mail. `smtps` uses TLS from the start, `smtp` as soon as the server offers it. Sends a password only over
 * TLS or to this very machine. Errors do not quote commands: a command may contain a password.
 */
export async function sendBySmtp(url: URL, password: string | null, mail: Mail, signal: AbortSignal): Promise<string> {
  const secure = url.protocol === 'smtps:'
  const port = url.port === '' ? (secure ? 465 : 587) : Number(url.port)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const socket = net.connect({ host, port })
  const timedOut = rejectOnAbort(signal, `${url.host} did not answer in time`)
  try {
    await Promise.race([timedOut.promise, connected(socket)])
    const isLocal = /^(::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? '')
    // nodemailer gets a connected socket: its own search for the address skips the hosts file of the system.
    const connection = new SmtpConnection({
      host,
      secure,
      connection: socket,
      name: os.hostname().replaceAll(/[^A-Za-z0-9.-]/g, '') || 'localhost',
      maxResponseSize: MAX_REPLY_LENGTH,
    })
    const session = new SmtpSession(connection, timedOut.promise)
    await session.open()
    await logIn(session, url, password, isLocal)
    const remark = await session.send(mail)
    session.close()
    return `taken by ${url.host}${remark}`
  } catch (cause) {
    socket.destroy()
    throw cause
  } finally {
    timedOut.dispose()
  }
}

async function logIn(session: SmtpSession, url: URL, configuredPassword: string | null, isLocal: boolean) {
  const user = decodeURIComponent(url.username)
  const pass = configuredPassword ?? decodeURIComponent(url.password)
  if (user === '' || pass === '') return
  if (!session.isSecure && !isLocal) throw new Error(`${url.host} offers no TLS, and gets no password without it`)
  if (!session.offersLogin) throw new Error(`${url.host} offers no login`)
  await session.logIn(user, pass)
}

/** Turns the callbacks and events of a connection into promises. A lost connection rejects the current one. */
class SmtpSession {
  readonly #connection: SmtpConnection
  readonly #lost: Promise<never>

  constructor(connection: SmtpConnection, timedOut: Promise<never>) {
    this.#connection = connection
    const ended = new Promise<never>((_, reject) => {
      connection.on('error', cause => reject(shortReason(cause)))
      connection.on('end', () => reject(new Error('the mail server hung up')))
    })
    this.#lost = Promise.race([ended, timedOut])
    this.#lost.catch(() => undefined) // A connection that ends later, as it should, is no error.
  }

  get isSecure(): boolean {
    return this.#connection.secure
  }

  get offersLogin(): boolean {
    return this.#connection.allowsAuth
  }

  async open(): Promise<void> {
    await this.#step<unknown>(done => this.#connection.connect(cause => done(cause ?? null, true)))
  }

  async logIn(user: string, pass: string): Promise<void> {
    await this.#step<unknown>(done => this.#connection.login({ user, pass }, done))
  }

  /**
   * The server owns the mail once it has confirmed it. Throws if a receiver may be accepted later; the others then get
   * the mail again, with the same id. Returns a remark about receivers that the server refused for good.
   */
  async send({ from, to, text }: Mail): Promise<string> {
    const sent = await this.#step<Sent>(done => this.#connection.send({ from, to: [...to] }, text, done))
    const refusals = sent?.rejectedErrors ?? []
    const temporary = refusals.find(({ permanent }) => permanent !== true)
    if (temporary !== undefined) throw shortReason(temporary)
    return refusals.map(refusal => `, but not for ${refusal.recipient}: ${shortReason(refusal).message}`).join('')
  }

  /** Says goodbye; the answer does not matter. */
  close(): void {
    this.#connection.quit()
    this.#connection.close()
  }

  #step<T>(begin: (done: (cause: Error | null, result?: T) => void) => void): Promise<T | undefined> {
    const done = new Promise<T | undefined>((resolve, reject) =>
      begin((cause, result) => (cause === null ? resolve(result) : reject(shortReason(cause)))),
    )
    return Promise.race([done, this.#lost])
  }
}

type Sent = NonNullable<Parameters<Parameters<SmtpConnection['send']>[2]>[1]>

/** Returns the last line of the server's reply, without the words that nodemailer puts before it. */
function shortReason(cause: Error & { response?: unknown }): Error {
  if (typeof cause.response !== 'string') return cause
  return new Error(`the mail server said ${cause.response.trim().split('\n').at(-1)?.trim()}`)
}

function connected(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
}

function rejectOnAbort(signal: AbortSignal, message: string): { promise: Promise<never>; dispose: () => void } {
  let abort = (): void => undefined
  const promise = new Promise<never>((_, reject) => {
    abort = () => reject(new Error(message))
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
  })
  promise.catch(() => undefined) // Somebody may abort after the last step.
  return { promise, dispose: () => signal.removeEventListener('abort', abort) }
}
