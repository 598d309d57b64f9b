import os from 'node:os'
import type { ChannelAddress } from '../../core/notify/channel.ts'
import type { Notification } from '../../core/notify/notification.ts'
import type { ChannelDriver } from './channel-driver.ts'
import { pipeToProgram } from './run-program.ts'
import net from 'node:net'
import tls from 'node:tls'
import { SmtpConnection } from './smtp-connection.ts'

type EmailAddress = Extract<ChannelAddress, { type: 'email' }>

/** Sends through a mail server if one is configured, else through this machine's `sendmail`. */
export const email: ChannelDriver<EmailAddress> = async (address, bulletin, { env, signal }) => {
  const { to, url, password } = address
  const from = findSender(address, env)
  const mail = { from, to, text: renderMail(bulletin, from, to) }
  if (url !== null) return await sendBySmtp(new URL(url.reveal()), password?.reveal() ?? null, mail, signal)
  // Usually only root has the folder of sendmail on PATH. sendmail expects the line ends of this system, as any program.
  const search = { ...env, PATH: `${env['PATH'] ?? '/usr/bin:/bin'}:/usr/sbin:/usr/lib` }
  await pipeToProgram(['sendmail', '-i', '-f', from, '--', ...to], {
    env: search,
    input: mail.text.replaceAll('\r\n', '\n'),
    signal,
  })
  return 'handed to sendmail'
}

function findSender({ from, url }: EmailAddress, env: NodeJS.ProcessEnv): string {
  if (from !== null) return from
  const user = url === null ? '' : decodeURIComponent(new URL(url.reveal()).username)
  if (/^[^\s<>@]+@[^\s<>@]+$/.test(user)) return user
  return `${env['USER'] || os.userInfo().username}@${os.hostname()}`
}

/** Renders header and body in pure ASCII, so that no text in them can act as mail syntax. */
function renderMail({ id, heading, text }: Notification, from: string, to: readonly string[]): string {
  const body = Buffer.from(`${text}\n`).toString('base64').replace(/.{76}/g, '$&\r\n')
  return [
    `From: oneshot <${from}>`,
    `To: ${to.join(', ')}`,
    `Subject: ${encodedWords(`oneshot: ${heading}`)}`,
    `Date: ${new Date().toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: <${id}@oneshot.invalid>`,
    'Auto-Submitted: auto-generated',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    body,
    '',
  ].join('\r\n')
}

/** Encodes a subject of any characters as words of at most 75 bytes each. */
function encodedWords(text: string): string {
  if (/^[\x20-\x7e]{0,60}$/.test(text)) return text
  const characters = Array.from(text)
  const words: string[] = []
  while (characters.length > 0)
    words.push(`=?utf-8?B?${Buffer.from(characters.splice(0, 10).join('')).toString('base64')}?=`)
  return words.join('\r\n ')
}

export interface Mail {
  readonly from: string
  readonly to: readonly string[]
  readonly text: string
}

/**
 * Sends one mail. `smtps` uses TLS from the start, `smtp` as soon as the server offers it. Sends a password only over
 * TLS or to this very machine.
 */
export async function sendBySmtp(url: URL, password: string | null, mail: Mail, signal: AbortSignal): Promise<string> {
  const isSecure = url.protocol === 'smtps:'
  const port = url.port === '' ? (isSecure ? 465 : 587) : Number(url.port)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const name = net.isIP(host) === 0 ? { servername: host } : {}
  const socket = isSecure ? tls.connect({ host, port, ...name }) : net.connect({ host, port })
  const connection = new SmtpConnection(socket)
  const abort = (): void => connection.destroy(new Error(`${url.host} did not answer in time`))
  signal.addEventListener('abort', abort)
  try {
    await connection.expectReply(220)
    let extensions = await greet(connection)
    if (!isSecure && /^STARTTLS$/im.test(extensions)) {
      await connection.send('STARTTLS', 220)
      await connection.startTls({ host, ...name })
      extensions = await greet(connection)
    }
    await logIn(connection, url, password, extensions)
    await sendMail(connection, mail)
    return `taken by ${url.host}`
  } finally {
    signal.removeEventListener('abort', abort)
    connection.destroy()
  }
}

async function greet(connection: SmtpConnection): Promise<string> {
  return await connection.send(`EHLO ${os.hostname().replaceAll(/[^A-Za-z0-9.-]/g, '') || 'localhost'}`, 250)
}

async function logIn(
  connection: SmtpConnection,
  url: URL,
  configuredPassword: string | null,
  extensions: string,
): Promise<void> {
  const user = decodeURIComponent(url.username)
  const password = configuredPassword ?? decodeURIComponent(url.password)
  if (user === '' || password === '') return
  if (!connection.isSecure && !connection.isLocal)
    throw new Error(`${url.host} offers no TLS, and gets no password without it`)
  if (/^AUTH[ =].*\bPLAIN\b/im.test(extensions)) {
    await connection.send(`AUTH PLAIN ${base64(`\0${user}\0${password}`)}`, 235)
  } else if (/^AUTH[ =].*\bLOGIN\b/im.test(extensions)) {
    await connection.send('AUTH LOGIN', 334)
    await connection.send(base64(user), 334)
    await connection.send(base64(password), 235)
  } else {
    throw new Error(`${url.host} offers no way to log in that is known here (PLAIN, LOGIN)`)
  }
}

/** The server owns the mail once it has confirmed it; the answer to QUIT does not matter. */
async function sendMail(connection: SmtpConnection, { from, to, text }: Mail): Promise<void> {
  await connection.send(`MAIL FROM:<${from}>`, 250)
  for (const receiver of to) await connection.send(`RCPT TO:<${receiver}>`, 250)
  await connection.send('DATA', 354)
  await connection.send(`${text.replaceAll(/^\./gm, '..').replace(/(\r\n)?$/, '')}\r\n.`, 250)
  connection.quit()
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
