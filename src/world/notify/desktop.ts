import fs from 'node:fs'
import type { Bulletin } from '../../core/bulletin.ts'
import { which } from '../os/which.ts'
import type { Driver } from './driver.ts'
import { tellProgram } from './tell-program.ts'

/** The text comes as arguments: it is never part of the script. */
const SCRIPT = [
  '-e',
  'on run argv',
  '-e',
  'display notification (item 1 of argv) with title "oneshot" subtitle (item 2 of argv)',
  '-e',
  'end run',
] as const

/** `notify-send` on Linux, `osascript` on macOS; where the usual one is missing, the other one. */
export const desktop: Driver<{ type: 'desktop' }> = async (_, bulletin, { env, signal }) => {
  const usual = process.platform === 'darwin' ? ['osascript', 'notify-send'] : ['notify-send', 'osascript']
  const program = usual.find(name => which(name, env, '/') !== undefined) ?? usual[0]
  const argv = program === 'osascript' ? osascript(bulletin) : notifySend(bulletin)
  await tellProgram(argv, { env: withBus(env), signal })
  return `shown by ${program}`
}

function osascript({ heading, text }: Bulletin): string[] {
  return ['osascript', ...SCRIPT, text, heading]
}

/** Its body is markup: escaped, everything in it is text. */
function notifySend({ heading, text, isUrgent }: Bulletin): string[] {
  const body = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return ['notify-send', '--app-name=oneshot', `--urgency=${isUrgent ? 'critical' : 'normal'}`, '--', heading, body]
}

/** A supervisor that was started from elsewhere than the desktop does not know its bus. */
function withBus(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const bus = `/run/user/${process.getuid?.()}/bus`
  if (env['DBUS_SESSION_BUS_ADDRESS'] || !fs.existsSync(bus)) return env
  return { ...env, DBUS_SESSION_BUS_ADDRESS: `unix:path=${bus}` }
}
