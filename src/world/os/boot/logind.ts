import fs from 'node:fs'
import path from 'node:path'
import { type Ask, wordsOfFailure } from './ask.ts'

/** Whether the user's service manager runs from boot on and after logout; null where there is no logind to ask. */
export async function lingers(ask: Ask, user: string): Promise<boolean | null> {
  const answer = await ask('loginctl', ['show-user', user, '--property=Linger'])
  if (answer.code === 0) return /^Linger=yes$/m.test(answer.stdout)
  // Of somebody who is not logged in and does not linger it knows nothing.
  return /not logged in or lingering|No such user|unknown user/i.test(answer.stderr) ? false : null
}

/** Undefined when it worked, or why it did not. Nobody is asked for a password. */
export async function enableLinger(ask: Ask, user: string): Promise<string | undefined> {
  const answer = await ask('loginctl', ['--no-ask-password', 'enable-linger', user])
  return answer.code === 0 ? undefined : wordsOfFailure(answer)
}

export interface LogoutRule {
  readonly killsUserProcesses: boolean
  /** When not empty, the processes of these are killed and of no others, whatever the rule is. */
  readonly only: readonly string[]
  readonly except: readonly string[]
}

/** What logind does with the processes of a login session when it ends; null where there is no logind. */
export async function logoutRule(ask: Ask): Promise<LogoutRule | null> {
  const properties = ['KillUserProcesses', 'KillOnlyUsers', 'KillExcludeUsers']
  const place = ['org.freedesktop.login1', '/org/freedesktop/login1', 'org.freedesktop.login1.Manager']
  const answer = await ask('busctl', ['--system', 'get-property', ...place, ...properties])
  if (answer.code === 0) return readProperties(answer.stdout)
  return fs.existsSync('/run/systemd/system') ? readLogindFiles('/') : null
}

/** Who is named counts more than the general rule; to be excluded counts most. */
export function isKilledAtLogout(rule: LogoutRule, user: string): boolean {
  if (rule.except.includes(user)) return false
  return rule.only.length > 0 ? rule.only.includes(user) : rule.killsUserProcesses
}

/**
 * `b true`, `as 0`, `as 1 "me"`, a line for each. logind 252: root is excluded unless somebody is, and then too nobody is
 * shown.
 */
export function readProperties(text: string): LogoutRule {
  const [kill = '', only = '', except = ''] = text.split('\n')
  const names = (line: string): string[] => [...line.matchAll(/"([^"]*)"/g)].map(([, name = '']) => name)
  const excluded = names(except)
  return {
    killsUserProcesses: kill.trim() === 'b true',
    only: names(only),
    except: excluded.length === 0 ? ['root'] : excluded,
  }
}

/** The same from the files: the main one first, then what is dropped beside it, by name. The last word counts. */
export function readLogindFiles(root: string): LogoutRule {
  const settings = new Map<string, string>()
  for (const file of logindFiles(root)) {
    for (const [, key = '', value = ''] of readOr(file).matchAll(/^[ \t]*(\w+)[ \t]*=(.*)$/gm)) {
      settings.set(key, value.trim())
    }
  }
  const names = (key: string): string[] => (settings.get(key) ?? '').split(/\s+/).filter(name => name !== '')
  return {
    killsUserProcesses: /^(1|yes|y|true|t|on)$/i.test(settings.get('KillUserProcesses') ?? ''),
    only: names('KillOnlyUsers'),
    except: settings.has('KillExcludeUsers') ? names('KillExcludeUsers') : ['root'],
  }
}

/** A file in /etc hides one of the same name in /run, and that one in /usr/lib. */
function logindFiles(root: string): string[] {
  const places = ['usr/lib', 'run', 'etc'].map(place => path.join(root, place, 'systemd'))
  const main = places.map(place => path.join(place, 'logind.conf')).findLast(file => fs.existsSync(file))
  const dropped = new Map<string, string>()
  for (const place of places) {
    const folder = path.join(place, 'logind.conf.d')
    for (const name of namesIn(folder)) if (name.endsWith('.conf')) dropped.set(name, path.join(folder, name))
  }
  const later = [...dropped].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, file]) => file)
  return [...(main === undefined ? [] : [main]), ...later]
}

function namesIn(folder: string): string[] {
  try {
    return fs.readdirSync(folder)
  } catch {
    return [] // Most machines have none.
  }
}

function readOr(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return '' // A link to nowhere or to /dev/null: it says nothing.
  }
}
