import fs from 'node:fs'
import { resolveChannelAddress } from '../../api/config/resolve-channel-address.ts'
import { CHANNEL_TYPES } from '../../api/config/channels.ts'
import { type ChannelEntry, loadChannels } from '../../api/config/channels.ts'
import { locateFiles } from '../../api/config/config-files.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { errorMessage } from '../../lib/errors.ts'
import { toChannelViews } from '../../views/channel-views.ts'
import type { Home } from '../../state/home.ts'
import { which } from '../../os/which.ts'
import { type Finding, note, ok, warning } from './finding.ts'

/** Checks if the notification channels can work. An unreadable configuration has a check of its own. */
export async function checkChannels(env: NodeJS.ProcessEnv, home: Home): Promise<Finding[]> {
  try {
    const entries = await loadChannels(env)
    const failures = new Map(toChannelViews(entries, home).map(({ name, failure }) => [name, failure]))
    return [
      ...checkFileMode(entries, env),
      ...entries.map(entry => checkChannel(entry, env, failures.get(entry.name) ?? null)),
    ]
  } catch {
    return []
  }
}

function checkChannel(entry: ChannelEntry, env: NodeJS.ProcessEnv, failure: string | null): Finding {
  const check = `notify ${entry.name}`
  const hint = `oneshot notify test ${entry.name}`
  const missing = missingRequirement(entry, env)
  if (missing !== undefined) return warning(check, missing, hint)
  if (failure === null) return ok(check, entry.type)
  // A bell that nobody heard is no defect.
  if (entry.type === 'bell') return note(check, `bell; ${toOneLine(failure)}`)
  return warning(check, `${entry.type}; it failed last: ${toOneLine(failure)}`, hint)
}

/** Describes in a sentence the requirement of a channel that is missing here. */
function missingRequirement(entry: ChannelEntry, env: NodeJS.ProcessEnv): string | undefined {
  try {
    const address = resolveChannelAddress(entry, env)
    const programs = requiredPrograms(address)
    if (programs.length === 0 || programs.some(name => which(name, env, '/') !== undefined)) return undefined
    return `${programs.join(' or ')} is not on PATH`
  } catch (cause) {
    return errorMessage(cause).replace(`notify.${entry.name}: `, '').replace("the supervisor's", 'this')
  }
}

/** Returns the programs of which the channel needs one. */
function requiredPrograms(address: ReturnType<typeof resolveChannelAddress>): readonly string[] {
  switch (address.type) {
    case 'desktop':
      return ['notify-send', 'osascript']
    case 'openclaw':
      return ['openclaw']
    case 'command':
      return address.argv.slice(0, 1)
    case 'email':
      return address.url === null ? ['sendmail', '/usr/sbin/sendmail', '/usr/lib/sendmail'] : []
    default:
      return []
  }
}

/** Warns if other users can read a file with secrets. */
function checkFileMode(entries: readonly ChannelEntry[], env: NodeJS.ProcessEnv): Finding[] {
  const hasSecret = entries.some(({ type, given }) =>
    Object.entries(CHANNEL_TYPES[type]).some(
      ([name, { kind }]) => (kind === 'secret' || kind === 'address') && name in given,
    ),
  )
  const { user } = locateFiles(env, '/')
  const mode = fs.statSync(user, { throwIfNoEntry: false })?.mode ?? 0
  if (!hasSecret || (mode & 0o077) === 0) return []
  return [warning('notify', `${user} holds secrets and can be read by others`, `chmod 600 ${user}`)]
}
