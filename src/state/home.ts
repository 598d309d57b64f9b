import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Refusal } from '../lib/errors.ts'
import { hasCode, isDiskFull, errorMessage } from '../lib/errors.ts'

/** Unix socket paths have at most 104 bytes on macOS and 108 on Linux, including the final NUL. */
const SOCKET_PATH_LIMIT = 103

/** Paths of all state files. They are in one folder, private to its user. */
export interface Home {
  readonly root: string
  readonly database: string
  readonly lock: string
  readonly daemonSocket: string
  readonly daemonLog: string
  readonly keeperPid: string
  /** Exists while the user wants no supervisor: neither keeper nor shim starts one. */
  readonly downMarker: string
  /** Exists until a supervisor has started that holds every session without a living process. */
  readonly holdMarker: string
  /** Holds the id of the boot in which the supervisor held all sessions, for users who want that after each boot. */
  readonly heldBoot: string
  readonly wakeScript: string
  readonly tmuxSocket: string
  readonly tmuxConfig: string
  readonly terminals: string
  readonly mailbox: string
  readonly sessions: string
  /** One file with a line of text for the status line of each session's pane. */
  readonly statusLines: string
  /** Locks of the agents' threads: only one attempt at a time may work in a thread. */
  readonly threads: string
  readonly programs: string
}

export function homeAt(root: string): Home {
  const at = (...names: string[]): string => path.join(root, ...names)
  return {
    root,
    database: at('oneshot.db'),
    lock: at('lock.db'),
    daemonSocket: at('daemon.sock'),
    daemonLog: at('daemon.log'),
    keeperPid: at('keeper.pid'),
    downMarker: at('down'),
    holdMarker: at('no-resume'),
    heldBoot: at('held-boot'),
    wakeScript: at('bin', 'wake'),
    tmuxSocket: at('tmux.sock'),
    tmuxConfig: at('bin', 'tmux.conf'),
    terminals: at('tty'),
    mailbox: at('mailbox'),
    sessions: at('sessions'),
    statusLines: at('captions'),
    threads: at('threads'),
    programs: at('bin'),
  }
}

/** Returns the state folder that this environment names. */
export function locateHome(env: NodeJS.ProcessEnv, cwd = (): string => process.cwd()): Home {
  const { ONESHOT_HOME, XDG_STATE_HOME } = env
  if (ONESHOT_HOME)
    return homeAt(path.isAbsolute(ONESHOT_HOME) ? path.resolve(ONESHOT_HOME) : path.resolve(cwd(), ONESHOT_HOME))
  const base =
    XDG_STATE_HOME && path.isAbsolute(XDG_STATE_HOME)
      ? XDG_STATE_HOME
      : path.join(env['HOME'] || os.homedir(), '.local', 'state')
  return homeAt(path.join(base, 'oneshot'))
}

/** Returns true if there is anything to read. Throws a refusal if the folder cannot be trusted. */
export function homeExists(home: Home): boolean {
  assertSocketPathFits(home)
  const stat = statOrUndefined(home.root)
  if (stat === undefined || isFreshFolder(home.root, stat)) return false
  assertPrivate(home.root, stat)
  return true
}

/** Creates the state folder, or refuses and says what is wrong with it. */
export function openHome(home: Home): void {
  assertSocketPathFits(home)
  try {
    createFolder(home.root)
    restrictIfEmpty(home.root)
    assertPrivate(home.root, fs.statSync(home.root))
    for (const folder of [home.mailbox, home.sessions, home.statusLines, home.threads, home.programs, home.terminals]) {
      fs.mkdirSync(folder, { mode: 0o700, recursive: true })
    }
    fs.accessSync(home.root, fs.constants.W_OK)
  } catch (cause) {
    throw cause instanceof Refusal ? cause : unusableHome(home.root, cause)
  }
}

/** Turns a failed write into a refusal for the user. */
export function unusableHome(root: string, cause: unknown): Refusal {
  const isUnwritable = hasCode(cause, 'EROFS', 'EACCES', 'EPERM') || /readonly database/.test(errorMessage(cause))
  if (isUnwritable || isReadOnly(root)) {
    return new Refusal(
      'home-unusable',
      `the state folder ${root} cannot be written`,
      'make it writable, or set ONESHOT_HOME to another folder',
    )
  }
  if (isDiskFull(cause)) {
    return new Refusal(
      'disk-full',
      `no space left for the state folder ${root}`,
      'free some space: oneshot stop NAME ends a session that fills it, and oneshot clean removes ended sessions with their output',
    )
  }
  if (hasCode(cause, 'ENOTDIR', 'EEXIST')) {
    return new Refusal('home-unusable', `the state folder ${root} is not a folder`, 'set ONESHOT_HOME to a folder')
  }
  return new Refusal(
    'home-unusable',
    `the state folder ${root} cannot be used: ${errorMessage(cause)}`,
    'set ONESHOT_HOME to another folder',
  )
}

/**
 * Creates and removes a file. ext4 reports a disk that an error made read-only as writable, and SQLite calls its failed
 * writes I/O errors.
 */
export function isReadOnly(root: string): boolean {
  const probe = path.join(root, `writable.${process.pid}`)
  try {
    fs.closeSync(fs.openSync(probe, 'w', 0o600))
    fs.rmSync(probe, { force: true })
    return false
  } catch (cause) {
    return hasCode(cause, 'EROFS')
  }
}

function assertSocketPathFits(home: Home): void {
  const longest = path.join(home.terminals, 'xxxxxxxxxx.sock')
  const length = Buffer.byteLength(longest)
  if (length <= SOCKET_PATH_LIMIT) return
  const maxRootLength = SOCKET_PATH_LIMIT - (length - Buffer.byteLength(home.root))
  throw new Refusal(
    'home-too-long',
    `the state folder's path is too long for a unix socket: ${home.root} has ${Buffer.byteLength(home.root)} bytes, at most ${maxRootLength} fit`,
    'set ONESHOT_HOME to a shorter path',
  )
}

function assertPrivate(root: string, stat: fs.Stats): void {
  if (!stat.isDirectory()) {
    throw new Refusal('home-unusable', `the state folder ${root} is not a folder`, 'set ONESHOT_HOME to a folder')
  }
  const uid = process.getuid?.()
  if (uid !== undefined && stat.uid !== uid) {
    throw new Refusal(
      'home-unsafe',
      `the state folder ${root} belongs to another user (uid ${stat.uid}, you are ${uid})`,
      'set ONESHOT_HOME to a folder of your own',
    )
  }
  if ((stat.mode & 0o077) !== 0) {
    const mode = (stat.mode & 0o777).toString(8).padStart(4, '0')
    throw new Refusal(
      'home-unsafe',
      `the state folder ${root} is open to other users (mode ${mode})`,
      `chmod 700 ${root}`,
    )
  }
}

/** Creates parents one by one. Node 20: mkdirSync with `recursive` never returns for a path below /proc. */
function createFolder(folder: string): void {
  if (fs.existsSync(folder)) return
  if (path.dirname(folder) !== folder) createFolder(path.dirname(folder))
  try {
    fs.mkdirSync(folder, { mode: 0o700 })
  } catch (cause) {
    if (!hasCode(cause, 'EEXIST')) throw cause // Another command created it at the same moment.
  }
}

/** A user who creates the folder gives it the usual mode; restricting an empty folder harms nobody. */
function restrictIfEmpty(root: string): void {
  if (isFreshFolder(root, fs.statSync(root))) fs.chmodSync(root, 0o700)
}

function isFreshFolder(root: string, stat: fs.Stats): boolean {
  const isOurs = stat.isDirectory() && stat.uid === process.getuid?.()
  return isOurs && (stat.mode & 0o077) !== 0 && fs.readdirSync(root).length === 0
}

function statOrUndefined(file: string): fs.Stats | undefined {
  try {
    return fs.statSync(file)
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return undefined
    throw unusableHome(file, cause)
  }
}
