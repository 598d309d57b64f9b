import net from 'node:net'
import os from 'node:os'
import tls from 'node:tls'
import { SmtpLine } from './smtp-line.ts'

export interface Letter {
  readonly from: string
  readonly to: readonly string[]
  readonly text: string
}

/**
 * Sends one mail. `smtps` speaks TLS from the start; `smtp` as soon as the server offers it. A password is sent only over
 * TLS, or to this very machine.
 */
export async function sendBySmtp(
  url: URL,
  password: string | null,
  letter: Letter,
  signal: AbortSignal,
): Promise<string> {
  const isSecure = url.protocol === 'smtps:'
  const port = url.port === '' ? (isSecure ? 465 : 587) : Number(url.port)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const name = net.isIP(host) === 0 ? { servername: host } : {}
  const socket = isSecure ? tls.connect({ host, port, ...name }) : net.connect({ host, port })
  const line = new SmtpLine(socket)
  const hangUp = (): void => line.destroy(new Error(`${url.host} did not answer in time`))
  signal.addEventListener('abort', hangUp)
  try {
    await line.expect(220)
    let offers = await greet(line)
    if (!isSecure && /^STARTTLS$/im.test(offers)) {
      await line.say('STARTTLS', 220)
      await line.secure({ host, ...name })
      offers = await greet(line)
    }
    await logIn(line, url, password, offers)
    await hand(line, letter)
    return `taken by ${url.host}`
  } finally {
    signal.removeEventListener('abort', hangUp)
    line.destroy()
  }
}

async function greet(line: SmtpLine): Promise<string> {
  return await line.say(`EHLO ${os.hostname().replaceAll(/[^A-Za-z0-9.-]/g, '') || 'localhost'}`, 250)
}

async function logIn(line: SmtpLine, url: URL, given: string | null, offers: string): Promise<void> {
  const user = decodeURIComponent(url.username)
  const password = given ?? decodeURIComponent(url.password)
  if (user === '' || password === '') return
  if (!line.isSecure && !line.isLocal) throw new Error(`${url.host} offers no TLS, and gets no password without it`)
  if (/^AUTH[ =].*\bPLAIN\b/im.test(offers)) {
    await line.say(`AUTH PLAIN ${base64(`\0${user}\0${password}`)}`, 235)
  } else if (/^AUTH[ =].*\bLOGIN\b/im.test(offers)) {
    await line.say('AUTH LOGIN', 334)
    await line.say(base64(user), 334)
    await line.say(base64(password), 235)
  } else {
    throw new Error(`${url.host} offers no way to log in that is known here (PLAIN, LOGIN)`)
  }
}

/** The mail is the server's when it has said so; what it answers to our leaving is of no interest. */
async function hand(line: SmtpLine, { from, to, text }: Letter): Promise<void> {
  await line.say(`MAIL FROM:<${from}>`, 250)
  for (const receiver of to) await line.say(`RCPT TO:<${receiver}>`, 250)
  await line.say('DATA', 354)
  await line.say(`${text.replaceAll(/^\./gm, '..').replace(/(\r\n)?$/, '')}\r\n.`, 250)
  line.leave()
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
