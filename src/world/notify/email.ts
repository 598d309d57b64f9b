import os from 'node:os'
import type { ChannelAddress } from '../../core/notify/channel.ts'
import type { ChannelDriver } from './channel-driver.ts'
import { pipeToProgram } from './spawn-process-group.ts'

type EmailAddress = Extract<ChannelAddress, { type: 'email' }>

/** Sends through a mail server if one is configured, else through this machine's `sendmail`. */
export const email: ChannelDriver<EmailAddress> = async (address, bulletin, { env, signal }) => {
  const { to, url, password } = address
  // A bundle of its own contains the mail client: only a supervisor that sends a mail loads it.
  const { composeMail, sendBySmtp } = await import('./mail-client.ts')
  const mail = await composeMail(bulletin, findSender(address, env), to)
  if (url !== null) return await sendBySmtp(new URL(url.reveal()), password?.reveal() ?? null, mail, signal)
  // Usually only root has the folder of sendmail on PATH. sendmail expects the line ends of this system, as any program.
  const search = { ...env, PATH: `${env['PATH'] ?? '/usr/bin:/bin'}:/usr/sbin:/usr/lib` }
  await pipeToProgram(['sendmail', '-i', '-f', mail.from, '--', ...to], {
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
