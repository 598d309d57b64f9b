import fs from 'node:fs'
import { Trouble } from '../../lib/errors.ts'
import type { ChannelDriver } from './channel-driver.ts'
import { type Notification, environmentOf } from '../../core/notify/notification.ts'
import { which } from '../../os/which.ts'
import { pipeToProgram } from './spawn-process-group.ts'
import type { ChannelAddress } from '../../core/notify/channel.ts'

/**
 * Rings the bell on every terminal that is attached to a session, and on the terminal of the original command if it
 * still exists and still belongs to the user. A bell that reaches nobody is not repeated later.
 */
export const bell: ChannelDriver<{ type: 'bell' }> = async (_, bulletin, context) => {
  const terminals = new Set([...(await context.terminals()), ...bulletin.terminals])
  const reached = [...terminals].filter(ringBell)
  if (reached.length === 0) throw new Trouble('ringing', 'nobody is at a terminal of yours', { mayHelpToRetry: false })
  return `rung at ${reached.join(', ')}`
}

/** Writes without waiting for a terminal that is suspended by Ctrl-S or has a full buffer. */
function ringBell(terminal: string): boolean {
  const { O_WRONLY, O_NOCTTY, O_NONBLOCK } = fs.constants
  let fd: number | undefined
  try {
    fd = fs.openSync(terminal, O_WRONLY | O_NOCTTY | O_NONBLOCK)
    const stat = fs.fstatSync(fd)
    if (!stat.isCharacterDevice() || stat.uid !== process.getuid?.()) return false
    return fs.writeSync(fd, '\u0007') === 1
  } catch {
    return false // The terminal was closed, or belongs to another user now.
  } finally {
    if (fd !== undefined) fs.closeSync(fd)
  }
}

/** The text arrives as arguments and is never part of the script. */
const NOTIFICATION_SCRIPT = [
  '-e',
  'on run argv',
  '-e',
  'display notification (item 1 of argv) with title "oneshot" subtitle (item 2 of argv)',
  '-e',
  'end run',
] as const

/** Uses `notify-send` on Linux and `osascript` on macOS, or the other one if that is missing. */
export const desktop: ChannelDriver<{ type: 'desktop' }> = async (_, bulletin, { env, signal }) => {
  const programs = process.platform === 'darwin' ? ['osascript', 'notify-send'] : ['notify-send', 'osascript']
  const program = programs.find(name => which(name, env, '/') !== undefined) ?? programs[0]
  const argv = program === 'osascript' ? osascript(bulletin) : notifySend(bulletin)
  await pipeToProgram(argv, { env: withSessionBus(env), signal })
  return `shown by ${program}`
}

function osascript({ heading, text }: Notification): string[] {
  return ['osascript', ...NOTIFICATION_SCRIPT, text, heading]
}

/** notify-send reads the body as markup, so this function escapes it. */
function notifySend({ heading, text, isUrgent }: Notification): string[] {
  const body = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return ['notify-send', '--app-name=oneshot', `--urgency=${isUrgent ? 'critical' : 'normal'}`, '--', heading, body]
}

/** Adds the session bus, which a supervisor that was not started from the desktop does not know. */
function withSessionBus(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const bus = `/run/user/${process.getuid?.()}/bus`
  if (env['DBUS_SESSION_BUS_ADDRESS'] || !fs.existsSync(bus)) return env
  return { ...env, DBUS_SESSION_BUS_ADDRESS: `unix:path=${bus}` }
}

/** Passes everything in the environment and, as JSON, on stdin; nothing becomes part of a command line. */
export const command: ChannelDriver<Extract<ChannelAddress, { type: 'command' }>> = async (
  { argv },
  { document },
  context,
) => {
  const env = { ...context.env, ...environmentOf(document) }
  await pipeToProgram(argv, { env, input: `${JSON.stringify(document)}\n`, signal: context.signal })
  return `run: ${argv[0]}`
}

/** Wakes the assistant at once, not at its next heartbeat. */
export const openclaw: ChannelDriver<{ type: 'openclaw' }> = async (_, { text }, { env, signal }) => {
  const line = text.replaceAll('\n', ' · ')
  await pipeToProgram(['openclaw', 'system', 'event', '--text', `oneshot: ${line}`, '--mode', 'now'], { env, signal })
  return 'handed to openclaw'
}
