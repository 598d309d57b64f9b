import os from 'node:os'
import type { Address } from '../../core/channels.ts'
import type { Bulletin } from '../../core/bulletin.ts'
import type { Driver } from './driver.ts'
import { sendBySmtp } from './smtp.ts'
import { tellProgram } from './tell-program.ts'

type Mailing = Extract<Address, { type: 'email' }>

/** By a mail server when one is given, else by this machine's own `sendmail`. */
export const email: Driver<Mailing> = async (address, bulletin, { env, signal }) => {
  const { to, url, password } = address
  const from = senderOf(address, env)
  const letter = { from, to, text: mailText(bulletin, from, to) }
  if (url !== null) return await sendBySmtp(new URL(url.reveal()), password?.reveal() ?? null, letter, signal)
  // It is seldom on anybody's PATH but root's, and reads lines as any program here does.
  const search = { ...env, PATH: `${env['PATH'] ?? '/usr/bin:/bin'}:/usr/sbin:/usr/lib` }
  await tellProgram(['sendmail', '-i', '-f', from, '--', ...to], {
    env: search,
    input: letter.text.replaceAll('\r\n', '\n'),
    signal,
  })
  return 'handed to sendmail'
}

function senderOf({ from, url }: Mailing, env: NodeJS.ProcessEnv): string {
  if (from !== null) return from
  const user = url === null ? '' : decodeURIComponent(new URL(url.reveal()).username)
  if (/^[^\s<>@]+@[^\s<>@]+$/.test(user)) return user
  return `${env['USER'] || os.userInfo().username}@${os.hostname()}`
}

/** Header and body in ASCII alone, so that nothing in them can be taken for something else. */
function mailText({ id, heading, text }: Bulletin, from: string, to: readonly string[]): string {
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

/** A subject of any characters, in words of at most 75 bytes each. */
function encodedWords(text: string): string {
  if (/^[\x20-\x7e]{0,60}$/.test(text)) return text
  const characters = Array.from(text)
  const words: string[] = []
  while (characters.length > 0)
    words.push(`=?utf-8?B?${Buffer.from(characters.splice(0, 10).join('')).toString('base64')}?=`)
  return words.join('\r\n ')
}
