import crypto from 'node:crypto'
import { Refusal } from '../../lib/errors.ts'
import { installedFile, selfArgv } from '../../os/installed-files.ts'
import { type Home, locateHome } from '../../state/home.ts'
import { which } from '../../os/which.ts'

/** The command that starts the supervisor at boot, independent of the boot manager. */
export interface BootCommand {
  readonly home: string
  readonly keeper: string
  readonly node: string
  readonly program: string
  /** PATH on which the supervisor finds tmux; each session has its own PATH. */
  readonly path: string
  /** True if the supervisor must hold its sessions. */
  readonly noResume: boolean
}

/** Name of the variable that makes a supervisor hold its sessions. */
export const NO_RESUME = 'ONESHOT_NO_RESUME'

const STANDARD_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/**
 * Returns the command for this home and the installed program. Refuses text that no unit, plist or crontab can hold.
 */
export function createBootCommand(home: Home, env: NodeJS.ProcessEnv, options: { noResume: boolean }): BootCommand {
  const [node = '', program = ''] = selfArgv()
  const path = searchPath(env.PATH ?? '').join(':')
  const command = { home: home.root, keeper: installedFile('keeper.sh'), node, program, path, ...options }
  for (const text of [command.home, command.keeper, node, program]) assertNoControlCharacters(text)
  return command
}

/** Returns a different name for each home, so that two homes do not replace each other's entry. */
export function bootName(home: Home): string {
  const { root } = locateHome({})
  if (home.root === root) return 'oneshot'
  return `oneshot-${crypto.createHash('sha256').update(home.root).digest('hex').slice(0, 8)}`
}

/**
 * Returns the keeper's argv. The command first removes the mark of a deliberate stop: as with any service, such a stop
 * lasts until the machine restarts; `oneshot boot remove` lasts longer.
 */
export function bootArgv({ keeper, home, node, program }: BootCommand): string[] {
  return ['/bin/sh', '-c', 'rm -f "$1/down"; exec /bin/sh "$0" "$@"', keeper, home, node, program]
}

/** Parses an argv of `bootArgv`; undefined for any other. */
export function parseBootArgv(argv: readonly string[], path: string, noResume: boolean): BootCommand | undefined {
  const [, , , keeper, home, node, program] = argv
  if (keeper === undefined || home === undefined || node === undefined || program === undefined) return undefined
  return { home, keeper, node, program, path, noResume }
}

/** Returns a short PATH with the folder of tmux, even if that is the last of a long list. */
export function minimalPath(env: NodeJS.ProcessEnv): string {
  const folders = ['tmux', 'node'].flatMap(name => which(name, env, '/')?.replace(/\/[^/]*$/, '') ?? [])
  return searchPath(folders.join(':')).join(':')
}

/** Returns the absolute folders of a PATH, with the system's own at the end. */
function searchPath(path: string): string[] {
  const folders = path
    .split(':')
    .filter(folder => folder.startsWith('/') && !hasControl(folder) && !folder.includes('\\'))
  return [...new Set([...folders, ...STANDARD_FOLDERS])]
}

function assertNoControlCharacters(text: string): void {
  if (!hasControl(text)) return
  throw new Refusal(
    'boot-impossible',
    `${JSON.stringify(text)} has a line break or a control character in it`,
    'move it to a folder with a plain name',
  )
}

function hasControl(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the function looks for control characters.
  return /[\u0000-\u001f\u007f]/.test(text)
}
