import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { AttemptRef, LaunchSpec } from '../../ports/runtime.ts'
import { replaceFile } from '../../os/files/file-io.ts'
import {
  type AttemptFolder,
  attemptFolder,
  attemptFolderAt,
  attemptId,
  sessionFolder,
} from '../../state/session-folder.ts'
import type { Home } from '../../state/home.ts'
import { ROOM_FOR_REQUEST } from '../../state/stored-request.ts'
import { encodeLossless } from '../../lib/text/lossless-utf8.ts'
import { isExportableVariable, quoteShellWord } from '../../lib/text/shell-words.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { type ProcessId, checkLiveness, signalProcess } from '../../os/process/processes.ts'
import { readClaim, readExit, readShim } from '../../state/attempt-files.ts'

/**
 * Puts everything a shim needs into the attempt's folder. Until it is claimed, it may be laid down again. Where a folder was
 * made ready it is filled and then given its name, so that it is there whole or not at all.
 */
export function writeAttempt(spec: LaunchSpec, home: Home): void {
  const folder = attemptFolder(home, spec.sessionId, spec.attempt)
  const { preparedAttempt: prepared, env: saved } = sessionFolder(home, spec.sessionId)
  const isPrepared = !fs.existsSync(folder.root) && fs.existsSync(prepared)
  const target = isPrepared ? attemptFolderAt(prepared) : folder
  if (!isPrepared) createAttemptFolder(folder)
  const write = isPrepared ? fs.writeFileSync : replaceFile
  // Laid down again, it stays: a shim may have begun to read it this very moment, and what it read can be looked up.
  if (spec.stdin !== undefined && !isNonEmpty(target.stdin)) replaceFile(target.stdin, spec.stdin)
  if (spec.thread !== null) linkThread(target.thread, path.join(home.threads, threadLockName(spec.thread)))
  const marker = attemptId(spec.sessionId, spec.attempt)
  const ownVariables = { ...spec.env, ONESHOT_ATTEMPT: marker, ONESHOT_SESSION: spec.name }
  const env = { ...readSavedEnvironment(saved), ...terminalVariables(spec), ...ownVariables }
  write(target.enter, renderEnterFile(spec.argv, env))
  write(target.launch, renderLaunchFile(spec, { folder, letter: path.join(home.mailbox, marker) }))
  if (isPrepared) fs.renameSync(prepared, folder.root)
}

/** Makes the folder of a session's next attempt, with empty files in it: no record counts before its last line is there. */
export function prepareNextAttempt(home: Home, sessionId: string): void {
  const { preparedAttempt: prepared } = sessionFolder(home, sessionId)
  const draft = attemptFolderAt(`${prepared}.draft`)
  if (fs.existsSync(prepared)) return
  createAttemptFolder(draft)
  for (const file of [draft.launch, draft.enter, draft.started]) fs.writeFileSync(file, '', { mode: 0o600 })
  fs.renameSync(draft.root, prepared)
}

function isNonEmpty(file: string): boolean {
  return (fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/** Longer than each exit record. The shim writes over it in place, which takes no room on a full disk. */
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

/** A thread's name is the agent's: it may hold anything, and be long. */
function threadLockName(thread: string): string {
  return /^[\w.-]{1,120}$/.test(thread) ? thread : crypto.createHash('sha256').update(thread).digest('hex')
}

/** Without the user's tmux: an agent that runs `tmux kill-server` must hit nobody, least of all its user. */
export function readSavedEnvironment(file: string): Record<string, string> {
  const saved = Object.entries(JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, string>)
  return Object.fromEntries(saved.filter(([name]) => name !== 'TMUX' && name !== 'TMUX_PANE'))
}

/** Inside tmux the terminal is tmux's, whatever the user's own was. */
function terminalVariables(spec: LaunchSpec): Record<string, string> {
  return spec.mode === 'tty' ? { TERM: 'screen-256color' } : {}
}

const DEFAULT_UMASK = 0o022

/**
 * The sh program that becomes the agent. It writes down who it is, rings, and turns into the program by exec, so that
 * the recorded pid is the program's; through $alone, where the shim that reads it has set that. Every word in it is quoted; prompts are not in it, they arrive on stdin.
 */
export function renderLaunchFile(spec: LaunchSpec, files: { folder: AttemptFolder; letter: string }): string {
  const { folder, letter: mailboxEntry } = files
  return `${[
    // Not by $$: in a shell within a shell that is the other one's.
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
    // On a full disk it waits for room: a program that is not written down would run without anybody knowing.
    `until [ -e ${quoteShellWord(folder.swept)} ] ||`,
    `  printf '%s %s %s\\nend\\n' "$pid" "$birth" "$boot" >${quoteShellWord(folder.started)}`,
    'do sleep 1; done 2>/dev/null',
    // Whoever sweeps leaves its note first and looks for `started` then: one of the two sees the other.
    `[ ! -e ${quoteShellWord(folder.swept)} ] || exit 125`,
    `{ printf '' >${quoteShellWord(`${mailboxEntry}.started`)}; } 2>/dev/null`,
    ...renderRedirections(spec, folder),
    `umask ${(spec.umask ?? DEFAULT_UMASK).toString(8)}`,
    `cd -- ${quoteShellWord(spec.cwd)} || exit 126`,
    // A shim that knows the names of all it was given clears them itself, which saves starting two programs.
    'if [ -n "$shim_exports" ]; then',
    '  set -- $alone',
    '  unset $shim_exports',
    `  . ${quoteShellWord(folder.enter)}`,
    'fi',
    // Without a language, which takes env longer to read than the rest of its work. By its full name, because a long
    // PATH takes a shell as long as starting a program does.
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
 * The sh program that gives the program its environment. Every user of the machine can read argument lists, so the
 * environment must never be in one: it travels in this file, which only its user can read.
 */
export function renderEnterFile(argv: readonly string[], env: Readonly<Record<string, string>>): Uint8Array {
  const lines = Object.entries(env)
    .filter(([name]) => isExportableVariable(name))
    .map(([name, value]) => renderExport(name, value))
  // The words before the program's come as arguments, because no variable can change those.
  return encodeLossless(
    `${[UNSET_SHELL_VARIABLES, ...lines, `exec "$@" ${argv.map(quoteShellWord).join(' ')}`].join('\n')}\n`,
  )
}

/** A shell exports these of its own accord. */
const UNSET_SHELL_VARIABLES = 'unset PWD OLDPWD SHLVL'

/** Where sh is bash, some variables are read-only and setting one ends the shell: there bash's own value is exported. */
const READ_ONLY_IN_BASH = new Set(['BASHOPTS', 'BASH_VERSINFO', 'EUID', 'PPID', 'SHELLOPTS', 'UID'])

function renderExport(name: string, value: string): string {
  const line = `export ${name}=${quoteShellWord(value)}`
  return READ_ONLY_IN_BASH.has(name) ? `if [ -n "\${BASH_VERSION-}" ]; then export ${name}; else ${line}; fi` : line
}

/** Looks whether a shim that was called has taken the attempt: a shell needs less than a millisecond, a busy machine more. */
const REUSE_POLL_DELAYS = [1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 64, 128, 256, 512]

/**
 * Calls the shim of the attempt before, which waits in its pane, to this one, which is laid down: that saves opening a pane,
 * and whoever looks through it stays. False when no shim came; another one may then be started, for the claim decides.
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

/** One that has concluded, is not being swept, and is known to hear the call. */
function findStandbyShim(folder: AttemptFolder, program: string): ProcessId | null {
  const shim = readShim(folder)
  return shim?.program === program && readExit(folder) !== null && !fs.existsSync(folder.swept) ? shim : null
}
