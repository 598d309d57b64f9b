import crypto from 'node:crypto'
import { Refusal } from '../../lib/errors.ts'
import { installedFile, selfArgv } from '../../os/installation.ts'
import { type Home, locateHome } from '../../state/home.ts'
import { which } from '../../os/which.ts'

/** What is to be started when the machine is, in every form the same. */
export interface BootCommand {
  readonly home: string
  readonly keeper: string
  readonly node: string
  readonly program: string
  /** Where the supervisor finds tmux; each session has a PATH of its own. */
  readonly path: string
  /** Sessions are to be kept still. */
  readonly noResume: boolean
}

/** Set for a supervisor that is to keep its sessions still. */
export const NO_RESUME = 'ONESHOT_NO_RESUME'

const STANDARD_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** This program for this home, as it is installed now. Refuses what no unit, plist or crontab could hold. */
export function createBootCommand(home: Home, env: NodeJS.ProcessEnv, options: { noResume: boolean }): BootCommand {
  const [node = '', program = ''] = selfArgv()
  const path = searchPath(env.PATH ?? '').join(':')
  const command = { home: home.root, keeper: installedFile('keeper.sh'), node, program, path, ...options }
  for (const text of [command.home, command.keeper, node, program]) assertNoControlCharacters(text)
  return command
}

/** One name for each home, so that two of them do not take each other's place. */
export function bootName(home: Home): string {
  const { root } = locateHome({})
  if (home.root === root) return 'oneshot'
  return `oneshot-${crypto.createHash('sha256').update(home.root).digest('hex').slice(0, 8)}`
}

/**
 * The keeper as an argv. That the supervisor was stopped on purpose is forgotten first: it was for as long as the machine
 * ran, as with any service; `oneshot boot remove` is for longer.
 */
export function bootArgv({ keeper, home, node, program }: BootCommand): string[] {
  return ['/bin/sh', '-c', 'rm -f "$1/down"; exec /bin/sh "$0" "$@"', keeper, home, node, program]
}

/** What an argv that `bootArgv` made was made from; undefined for any other. */
export function parseBootArgv(argv: readonly string[], path: string, noResume: boolean): BootCommand | undefined {
  const [, , , keeper, home, node, program] = argv
  if (keeper === undefined || home === undefined || node === undefined || program === undefined) return undefined
  return { home, keeper, node, program, path, noResume }
}

/** The folder of tmux comes along even if it is the last of a long list that has to be cut somewhere. */
export function minimalPath(env: NodeJS.ProcessEnv): string {
  const folders = ['tmux', 'node'].flatMap(name => which(name, env, '/')?.replace(/\/[^/]*$/, '') ?? [])
  return searchPath(folders.join(':')).join(':')
}

/** Folders that mean the same wherever we stand, the system's own at the end. */
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
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  return /[\u0000-\u001f\u007f]/.test(text)
}
