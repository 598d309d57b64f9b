import fs from 'node:fs'
import { loadConfig } from '../../api/config/load-config.ts'
import { Refusal } from '../../lib/errors.ts'
import { errorMessage } from '../../lib/errors.ts'
import { quoteShellWord } from '../../lib/text/shell-words.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { type Home, homeExists } from '../../state/home.ts'
import { checkDatabaseFile } from '../../views/database-damage.ts'
import type { CommandContext } from '../context.ts'
import { findDaemon, startDaemon } from '../daemon/start-and-stop-daemon.ts'
import { isInDockerContext } from '../run/warnings-before-run.ts'
import { VERSION } from '../../lib/version.ts'
import { type Finding, failure, note, ok, warning } from './finding.ts'

/** In bytes. With less space, a day's output of a talkative agent may not fit. */
const LOW_DISK_SPACE = 1024 ** 3
const MIN_DISK_SPACE = 64 * 1024 ** 2

export function checkHome(home: Home, options: { fix: boolean }): Finding {
  const check = 'state folder'
  try {
    if (!homeExists(home)) return ok(check, `${home.root} will be made when it is needed`)
    fs.accessSync(home.root, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK)
    return ok(check, `${home.root}, yours alone`)
  } catch (cause) {
    if (options.fix && cause instanceof Refusal && cause.code === 'home-unsafe' && closeToOthers(home.root)) {
      return ok(check, `${home.root}, now closed to others`)
    }
    return failureFromError(check, cause, 'make it writable, or set ONESHOT_HOME to another folder')
  }
}

export function checkSpace(home: Home): Finding {
  const check = 'disk space'
  try {
    const { bavail, bsize } = fs.statfsSync(nearestExisting(home.root))
    const free = bavail * bsize
    const text = `${(free / 1024 ** 3).toFixed(1)} GB free for ${home.root}`
    if (free < MIN_DISK_SPACE)
      return failure(check, text, 'free some space, or set ONESHOT_HOME to a folder on another disk')
    return free < LOW_DISK_SPACE ? warning(check, text, 'oneshot clean --older-than 7d') : ok(check, text)
  } catch (cause) {
    return note(check, `unknown: ${errorMessage(cause)}`)
  }
}

/** Reads the whole database: the supervisor checks a large one only in part, so that it starts at once. */
export async function checkDatabase(home: Home, onSlow: () => void): Promise<Finding[]> {
  const check = 'database'
  try {
    const result = await checkDatabaseFile(home, onSlow)
    if (result === undefined) return []
    const { size, damage } = result
    if (damage === null) return [ok(check, `${(size / 1024 ** 2).toFixed(1)} MB, no damage`)]
    const aside = quoteShellWord(`${home.root}/damaged`)
    const files = `${quoteShellWord(home.database)}*`
    // The supervisor rebuilds the sessions from the copies beside their output.
    const hint = `oneshot daemon stop; mkdir ${aside}; mv ${files} ${aside}; oneshot daemon start`
    return [failure(check, `${home.database} is damaged: ${toOneLine(damage)}`, hint)]
  } catch (cause) {
    return [failureFromError(check, cause, 'oneshot daemon log')]
  }
}

export async function checkDaemon(
  context: Pick<CommandContext, 'home' | 'env'>,
  options: { fix: boolean },
): Promise<Finding> {
  const check = 'supervisor'
  try {
    const view = (await findDaemon(context.home)) ?? (options.fix ? await startDaemon(context) : undefined)
    if (view === undefined) return note(check, 'not running; the next command that needs it starts it')
    const text = `pid ${view.pid}, version ${view.version}, ${view.sessions.live} live ${view.sessions.live === 1 ? 'session' : 'sessions'}`
    if (view.version === VERSION) return ok(check, text)
    return warning(check, `${text}; this is version ${VERSION}`, 'oneshot daemon restart')
  } catch (cause) {
    return failureFromError(check, cause, 'oneshot daemon log')
  }
}

export async function checkConfig(env: NodeJS.ProcessEnv, cwd: string, overrides: readonly string[]): Promise<Finding> {
  const check = 'configuration'
  try {
    const config = await loadConfig({ env, cwd, overrides })
    const sources = new Set(Object.values(config).flatMap(({ where }) => (where === null ? [] : [where])))
    return ok(check, sources.size === 0 ? 'all defaults' : `valid, from ${[...sources].join(', ')}`)
  } catch (cause) {
    return failureFromError(check, cause, 'oneshot help config')
  }
}

/** A docker image that is built here must not contain the logs of sessions. */
export function checkDocker(cwd: string): Finding[] {
  if (!isInDockerContext(cwd)) return []
  return [warning('docker', 'docker build here copies .agent (logs and prompts)', 'echo .agent >> .dockerignore')]
}

/** The supervisor needs one watch in one instance; your other programs may have used them all. */
export function checkWatches(): Finding[] {
  const check = 'inotify'
  const instances = readNumber('/proc/sys/fs/inotify/max_user_instances')
  const watches = readNumber('/proc/sys/fs/inotify/max_user_watches')
  if (instances === undefined || watches === undefined) return []
  const text = `${instances} instances, ${watches} watches`
  if (instances >= 32 && watches >= 1024) return [ok(check, text)]
  return [warning(check, `${text} is little`, 'sysctl fs.inotify.max_user_instances=256')]
}

function closeToOthers(root: string): boolean {
  try {
    fs.chmodSync(root, 0o700)
    return true
  } catch {
    return false // The file belongs to another user; the finding says so.
  }
}

function failureFromError(check: string, cause: unknown, hint: string): Finding {
  return failure(check, errorMessage(cause), (cause instanceof Refusal ? cause.hint : undefined) ?? hint)
}

function nearestExisting(folder: string): string {
  let existing = folder
  while (!fs.existsSync(existing)) existing = existing.slice(0, existing.lastIndexOf('/')) || '/'
  return existing
}

function readNumber(file: string): number | undefined {
  try {
    return Number(fs.readFileSync(file, 'utf8'))
  } catch {
    return undefined // Only Linux has it.
  }
}
