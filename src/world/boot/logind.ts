import fs from 'node:fs'
import path from 'node:path'
import { type RunCommand, describeFailure } from './boot-manager.ts'

/** Returns true if the user's service manager runs from boot on and after logout; null without logind. */
export async function isLingerEnabled(runCommand: RunCommand, user: string): Promise<boolean | null> {
  const result = await runCommand('loginctl', ['show-user', user, '--property=Linger'])
  if (result.code === 0) return /^Linger=yes$/m.test(result.stdout)
  // logind does not know a user who is not logged in and does not linger.
  return /not logged in or lingering|No such user|unknown user/i.test(result.stderr) ? false : null
}

/** Enables lingering without asking for a password. Returns why it failed; undefined on success. */
export async function enableLinger(runCommand: RunCommand, user: string): Promise<string | undefined> {
  const result = await runCommand('loginctl', ['--no-ask-password', 'enable-linger', user])
  return result.code === 0 ? undefined : describeFailure(result)
}

export interface LogoutRule {
  readonly killsUserProcesses: boolean
  /** If not empty, logind kills only the processes of these users, whatever the general rule is. */
  readonly only: readonly string[]
  readonly except: readonly string[]
}

/** Returns the rule by which logind ends processes at logout; null without logind. */
export async function readLogoutRule(runCommand: RunCommand): Promise<LogoutRule | null> {
  const properties = ['KillUserProcesses', 'KillOnlyUsers', 'KillExcludeUsers']
  const object = ['org.freedesktop.login1', '/org/freedesktop/login1', 'org.freedesktop.login1.Manager']
  const result = await runCommand('busctl', ['--system', 'get-property', ...object, ...properties])
  if (result.code === 0) return parseBusProperties(result.stdout)
  return fs.existsSync('/run/systemd/system') ? readLogindFiles('/') : null
}

/** The lists of users take precedence over the general rule, and the exclusion list over all. */
export function isKilledAtLogout(rule: LogoutRule, user: string): boolean {
  if (rule.except.includes(user)) return false
  return rule.only.length > 0 ? rule.only.includes(user) : rule.killsUserProcesses
}

/**
 * Parses lines like `b true`, `as 0`, `as 1 "me"`. logind 252: root is excluded unless the configuration names excluded
 * users, but busctl then shows an empty list.
 */
export function parseBusProperties(text: string): LogoutRule {
  const [kill = '', only = '', except = ''] = text.split('\n')
  const names = (line: string): string[] => [...line.matchAll(/"([^"]*)"/g)].map(([, name = '']) => name)
  const excluded = names(except)
  return {
    killsUserProcesses: kill.trim() === 'b true',
    only: names(only),
    except: excluded.length === 0 ? ['root'] : excluded,
  }
}

/** Reads the rule from the files: the main one first, then its drop-ins by name. The last value counts. */
export function readLogindFiles(root: string): LogoutRule {
  const settings = new Map<string, string>()
  for (const file of logindFiles(root)) {
    for (const [, key = '', value = ''] of readOrEmpty(file).matchAll(/^[ \t]*(\w+)[ \t]*=(.*)$/gm)) {
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

/** A file in /etc hides one of the same name in /run, and that one hides one in /usr/lib. */
function logindFiles(root: string): string[] {
  const folders = ['usr/lib', 'run', 'etc'].map(folder => path.join(root, folder, 'systemd'))
  const main = folders.map(folder => path.join(folder, 'logind.conf')).findLast(file => fs.existsSync(file))
  const dropIns = new Map<string, string>()
  for (const folder of folders) {
    const dropInFolder = path.join(folder, 'logind.conf.d')
    for (const name of listFolder(dropInFolder))
      if (name.endsWith('.conf')) dropIns.set(name, path.join(dropInFolder, name))
  }
  const sortedDropIns = [...dropIns].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, file]) => file)
  return [...(main === undefined ? [] : [main]), ...sortedDropIns]
}

function listFolder(folder: string): string[] {
  try {
    return fs.readdirSync(folder)
  } catch {
    return [] // Most machines have none.
  }
}

function readOrEmpty(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return '' // A link to a missing file or to /dev/null: it sets nothing.
  }
}

/** The unit with which a process ends: a login session, the user's service manager, or neither. */
export type LoginScope = 'session' | 'manager' | 'elsewhere'

/** Reads the scope of a process from the control group that systemd has put it in. */
export function readLoginScope(pid: number | 'self'): LoginScope {
  try {
    return parseLoginScope(fs.readFileSync(`/proc/${pid}/cgroup`, 'utf8'))
  } catch {
    return 'elsewhere' // The system has no /proc, or the process has ended meanwhile.
  }
}

/** Exported for its test. */
export function parseLoginScope(cgroups: string): LoginScope {
  if (/\/user@\d+\.service(\/|$)/m.test(cgroups)) return 'manager'
  return /\/session-[^/]+\.scope(\/|$)/m.test(cgroups) ? 'session' : 'elsewhere'
}
