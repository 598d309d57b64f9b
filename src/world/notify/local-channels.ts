import fs from 'node:fs'
import { Trouble } from '../../lib/errors.ts'
import type { ChannelDriver } from './channel-driver.ts'
import { type Notification, environmentOf } from '../../core/notify/notification.ts'
import { which } from '../../os/which.ts'
import { pipeToProgram } from './run-program.ts'
import type { ChannelAddress } from '../../core/notify/channel.ts'

/**
 * Rings where somebody may sit: at every terminal that is attached to a session, and at the one the work was asked for on,
 * if it is still there and still the user's. A bell is for now: when nobody is there, it is not rung later.
 */
export const bell: ChannelDriver<{ type: 'bell' }> = async (_, bulletin, context) => {
  const terminals = new Set([...(await context.terminals()), ...bulletin.terminals])
  const reached = [...terminals].filter(ringBell)
  if (reached.length === 0) throw new Trouble('ringing', 'nobody is at a terminal of yours', { mayHelpToRetry: false })
  return `rung at ${reached.join(', ')}`
}

/** One that is suspended by Ctrl-S or has its buffer full is not waited for. */
function ringBell(terminal: string): boolean {
  const { O_WRONLY, O_NOCTTY, O_NONBLOCK } = fs.constants
  let fd: number | undefined
  try {
    fd = fs.openSync(terminal, O_WRONLY | O_NOCTTY | O_NONBLOCK)
    const stat = fs.fstatSync(fd)
    if (!stat.isCharacterDevice() || stat.uid !== process.getuid?.()) return false
    return fs.writeSync(fd, '\u0007') === 1
  } catch {
    return false // It was closed, or belongs to somebody else by now.
  } finally {
    if (fd !== undefined) fs.closeSync(fd)
  }
}

/** The text comes as arguments: it is never part of the script. */
const NOTIFICATION_SCRIPT = [
  '-e',
  'on run argv',
  '-e',
  'display notification (item 1 of argv) with title "oneshot" subtitle (item 2 of argv)',
  '-e',
  'end run',
] as const

/** `notify-send` on Linux, `osascript` on macOS; where the usual one is missing, the other one. */
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

/** Its body is markup: escaped, everything in it is text. */
function notifySend({ heading, text, isUrgent }: Notification): string[] {
  const body = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return ['notify-send', '--app-name=oneshot', `--urgency=${isUrgent ? 'critical' : 'normal'}`, '--', heading, body]
}

/** A supervisor that was started from elsewhere than the desktop does not know its bus. */
function withSessionBus(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const bus = `/run/user/${process.getuid?.()}/bus`
  if (env['DBUS_SESSION_BUS_ADDRESS'] || !fs.existsSync(bus)) return env
  return { ...env, DBUS_SESSION_BUS_ADDRESS: `unix:path=${bus}` }
}

/** Everything is in the environment and, as JSON, on stdin: nothing of it becomes part of a command line. */
export const command: ChannelDriver<Extract<ChannelAddress, { type: 'command' }>> = async (
  { argv },
  { document },
  context,
) => {
  const env = { ...context.env, ...environmentOf(document) }
  await pipeToProgram(argv, { env, input: `${JSON.stringify(document)}\n`, signal: context.signal })
  return `run: ${argv[0]}`
}

/** Wakes the assistant at once rather than at its next heartbeat. */
export const openclaw: ChannelDriver<{ type: 'openclaw' }> = async (_, { text }, { env, signal }) => {
  const line = text.replaceAll('\n', ' · ')
  await pipeToProgram(['openclaw', 'system', 'event', '--text', `oneshot: ${line}`, '--mode', 'now'], { env, signal })
  return 'handed to openclaw'
}
