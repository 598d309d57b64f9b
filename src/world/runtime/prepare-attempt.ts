import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { SessionId } from '../../core/session/session-id-and-name.ts'
import type { AttemptRef, LaunchSpec } from '../../ports/runtime.ts'
import { replaceFile } from '../../os/files/file-io.ts'
import {
  type AttemptFolder,
  attemptFolder,
  attemptFolderAt,
  attemptId,
  sessionFolder,
} from '../../state/session-folder.ts'
import { readEnvironment } from '../../state/env-file.ts'
import type { Home } from '../../state/home.ts'
import { ROOM_FOR_REQUEST } from '../../state/stored-request.ts'
import { encodeLossless } from '../../lib/text/lossless-utf8.ts'
import { isExportableVariable, quoteShellWord } from '../../lib/text/shell-words.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { type ProcessId, checkLiveness, signalProcess } from '../../os/process/processes.ts'
import { readClaim, readExit, readShim } from '../../state/shim-records.ts'

/**
 * Writes the attempt files that a shim needs. A caller may repeat this until a shim has claimed the attempt. If a
 * prepared folder exists, this function fills it and then renames it, so that the attempt's folder appears complete or
 * not at all.
 */
export function writeAttempt(spec: LaunchSpec, home: Home): void {
  const folder = attemptFolder(home, spec.sessionId, spec.attempt)
  const { preparedAttempt: prepared } = sessionFolder(home, spec.sessionId)
  const isNew = !fs.existsSync(folder.root)
  const isPrepared = isNew && fs.existsSync(prepared)
  const target = isPrepared ? attemptFolderAt(prepared) : folder
  if (!isPrepared) createAttemptFolder(folder)
  // No shim can read a folder that this call creates, so its files need no atomic replacement.
  const write = isNew ? writeNewFile : replaceFile
  // A repeated call keeps the existing stdin: a shim may already read it, and the engine looks up its content later.
  if (spec.stdin !== undefined && !isNonEmpty(target.stdin)) replaceFile(target.stdin, spec.stdin)
  if (spec.thread !== null) linkThread(target.thread, path.join(home.threads, threadLockName(spec.thread)))
  const marker = attemptId(spec.sessionId, spec.attempt)
  const ownVariables = { ...spec.env, ONESHOT_ATTEMPT: marker, ONESHOT_SESSION: spec.name }
  const env = { ...readEnvironment(home, spec.sessionId), ...terminalVariables(spec), ...ownVariables }
  write(target.enter, renderEnterFile(spec.argv, env))
  write(target.launch, renderLaunchFile(spec, { folder, letter: path.join(home.mailbox, marker) }))
  if (isPrepared) fs.renameSync(prepared, folder.root)
}

/** Creates the folder of the session's next attempt with empty files. Readers ignore a record without its last line. */
export function prepareNextAttempt(home: Home, sessionId: SessionId): void {
  const { preparedAttempt: prepared } = sessionFolder(home, sessionId)
  const draft = attemptFolderAt(`${prepared}.draft`)
  if (fs.existsSync(prepared)) return
  createAttemptFolder(draft)
  for (const file of [draft.launch, draft.enter, draft.started]) fs.writeFileSync(file, '', { mode: 0o600 })
  fs.renameSync(draft.root, prepared)
}

function writeNewFile(file: string, content: string | Uint8Array): void {
  fs.writeFileSync(file, content, { mode: 0o600 })
}

function isNonEmpty(file: string): boolean {
  return (fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/** Longer than any exit record. The shim overwrites these bytes in place, which needs no free space on a full disk. */
const ROOM_FOR_EXIT = '\n'.repeat(64)

function createAttemptFolder({ root, stdout, exit, request }: AttemptFolder): void {
  fs.mkdirSync(root, { recursive: true, mode: 0o700 })
  fs.closeSync(fs.openSync(stdout, 'a', 0o600))
  if (!isNonEmpty(exit)) fs.writeFileSync(exit, ROOM_FOR_EXIT, { mode: 0o600 })
  if (!isNonEmpty(request)) fs.writeFileSync(request, ROOM_FOR_REQUEST, { mode: 0o600 })
}

function linkThread(link: string, lock: string): void {
  fs.rmSync(link, { force: true })
  fs.symlinkSync(lock, link)
}

/**
 * Returns a file name for the lock of a thread. The agent chooses the thread's name, which may be long or hold any
 * character.
 */
function threadLockName(thread: string): string {
  return /^[\w.-]{1,120}$/.test(thread) ? thread : crypto.createHash('sha256').update(thread).digest('hex')
}

/** Inside tmux, tmux defines the terminal type, independent of the user's terminal. */
function terminalVariables(spec: LaunchSpec): Record<string, string> {
  return spec.mode === 'tty' ? { TERM: 'screen-256color' } : {}
}

const DEFAULT_UMASK = 0o022

/**
 * Renders the sh program that becomes the agent. It records its process identity, writes a mailbox entry and replaces
 * itself with the program by exec, so that the recorded pid is the program's pid. If the shim has set $alone, exec runs
 * the program through that command. Every word in it is quoted. It holds no prompt: prompts arrive on stdin.
 */
export function renderLaunchFile(spec: LaunchSpec, files: { folder: AttemptFolder; letter: string }): string {
  const { folder, letter: mailboxEntry } = files
  return `${[
    // $$ would be wrong here: in a subshell it is the pid of the outer shell.
    'if [ -r /proc/self/stat ]; then',
    '  read -r stat </proc/self/stat',
    '  set -- $stat',
    '  pid=$1',
    '  shift 21',
    '  birth=$1',
    '  read -r boot </proc/sys/kernel/random/boot_id',
    'else',
    '  pid=$$ birth=$(ps -o lstart= -p $$) boot=unknown',
    'fi',
    // On a full disk the launch file waits for space: without `started`, nobody would know of the running program.
    `until [ -e ${quoteShellWord(folder.swept)} ] ||`,
    `  printf '%s %s %s\\nend\\n' "$pid" "$birth" "$boot" >${quoteShellWord(folder.started)}`,
    'do sleep 1; done 2>/dev/null',
    // A sweep writes its marker first and then reads `started`; this file does the reverse, so one of them sees the
    // other.
    `[ ! -e ${quoteShellWord(folder.swept)} ] || exit 125`,
    `{ printf '' >${quoteShellWord(`${mailboxEntry}.started`)}; } 2>/dev/null`,
    ...renderRedirections(spec, folder),
    `umask ${(spec.umask ?? DEFAULT_UMASK).toString(8)}`,
    `cd -- ${quoteShellWord(spec.cwd)} || exit 126`,
    // A shim that has listed its exported variables unsets them here, which saves the start of two programs.
    'if [ -n "$shim_exports" ]; then',
    '  set -- $alone',
    '  unset $shim_exports',
    `  . ${quoteShellWord(folder.enter)}`,
    'fi',
    // LC_ALL=C: loading a locale takes env longer than the rest of its work. The full path: searching a long PATH takes
    // a shell as long as starting a program.
    'export LC_ALL=C',
    `exec $alone /usr/bin/env -i /bin/sh ${quoteShellWord(folder.enter)}`,
  ].join('\n')}\n`
}

function renderRedirections(spec: LaunchSpec, folder: AttemptFolder): string[] {
  const stdin = spec.stdin === undefined ? '/dev/null' : folder.stdin
  if (spec.mode === 'tty') return spec.stdin === undefined ? [] : [`exec <${quoteShellWord(stdin)}`]
  const stderr = spec.mergeStderr ? '2>&1' : `2>>${quoteShellWord(folder.stderr)}`
  return [`exec <${quoteShellWord(stdin)} >>${quoteShellWord(folder.stdout)} ${stderr}`]
}

/**
 * Renders the sh program that sets the program's environment. Every user of the machine can read argument lists, so the
 * environment travels in this file, which only its owner can read.
 */
export function renderEnterFile(argv: readonly string[], env: Readonly<Record<string, string>>): Uint8Array {
  const lines = Object.entries(env)
    .filter(([name]) => isExportableVariable(name))
    .map(([name, value]) => renderExport(name, value))
  // The words before the program's argv arrive as arguments, because no variable in this file can change arguments.
  return encodeLossless(
    `${[UNSET_SHELL_VARIABLES, ...lines, `exec "$@" ${argv.map(quoteShellWord).join(' ')}`].join('\n')}\n`,
  )
}

/** A shell exports these variables without a request. */
const UNSET_SHELL_VARIABLES = 'unset PWD OLDPWD SHLVL'

/**
 * If sh is bash, these variables are read-only and an assignment ends the shell; the file then exports bash's own
 * value.
 */
const READ_ONLY_IN_BASH = new Set(['BASHOPTS', 'BASH_VERSINFO', 'EUID', 'PPID', 'SHELLOPTS', 'UID'])

function renderExport(name: string, value: string): string {
  const line = `export ${name}=${quoteShellWord(value)}`
  return READ_ONLY_IN_BASH.has(name) ? `if [ -n "\${BASH_VERSION-}" ]; then export ${name}; else ${line}; fi` : line
}

/** Delays in milliseconds between checks for the shim's claim: a shell needs less than 1 ms, a busy machine more. */
const REUSE_POLL_DELAYS = [1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 64, 128, 256, 512]

/**
 * Signals the standby shim of the previous attempt, which waits in its pane, to run this attempt, whose files are
 * complete. This saves opening a pane, and attached clients stay attached. Returns false if no shim has claimed the
 * attempt; the caller may then start another shim, because only one can claim it.
 */
export async function reuseShim(ref: AttemptRef, home: Home, program: string): Promise<boolean> {
  const shim = findStandbyShim(attemptFolder(home, ref.sessionId, ref.attempt - 1), program)
  if (shim === null || !signalProcess(shim, 'SIGUSR1')) return false
  const folder = attemptFolder(home, ref.sessionId, ref.attempt)
  for (const delay of REUSE_POLL_DELAYS) {
    await pause(delay)
    const isGone = checkLiveness(shim) === 'dead'
    if (readClaim(folder) !== null) return true
    if (isGone) return false
  }
  return false
}

/**
 * Returns the shim of an attempt if it has recorded the exit, no sweep has begun, and its program version can be
 * reused.
 */
function findStandbyShim(folder: AttemptFolder, program: string): ProcessId | null {
  const shim = readShim(folder)
  return shim?.program === program && readExit(folder) !== null && !fs.existsSync(folder.swept) ? shim : null
}
