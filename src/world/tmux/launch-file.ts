import { encodeLossless } from '../../lib/lossless-text.ts'
import { canExport, quote } from '../../lib/quote.ts'
import type { LaunchOrder } from '../../ports/work.ts'
import type { AttemptFolder } from '../os/folders.ts'

const USUAL_UMASK = 0o022

/**
 * The sh program that becomes the agent. It writes down who it is, rings, and turns into the program by exec, so that
 * the recorded pid is the program's; through $alone, where the shim that reads it has set that. Every word in it is quoted; prompts are not in it, they arrive on stdin.
 */
export function launchFile(order: LaunchOrder, files: { folder: AttemptFolder; letter: string }): string {
  const { folder, letter } = files
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
    `until [ -e ${quote(folder.swept)} ] ||`,
    `  printf '%s %s %s\\nend\\n' "$pid" "$birth" "$boot" >${quote(folder.started)}`,
    'do sleep 1; done 2>/dev/null',
    // Whoever sweeps leaves its note first and looks for `started` then: one of the two sees the other.
    `[ ! -e ${quote(folder.swept)} ] || exit 125`,
    `{ printf '' >${quote(`${letter}.started`)}; } 2>/dev/null`,
    ...redirections(order, folder),
    `umask ${(order.umask ?? USUAL_UMASK).toString(8)}`,
    `cd -- ${quote(order.cwd)} || exit 126`,
    // A shim that knows the names of all it was given clears them itself, which saves starting two programs.
    'if [ -n "$shim_exports" ]; then',
    '  set -- $alone',
    '  unset $shim_exports',
    `  . ${quote(folder.enter)}`,
    'fi',
    // Without a language, which takes env longer to read than the rest of its work. By its full name, because a long
    // PATH takes a shell as long as starting a program does.
    'export LC_ALL=C',
    `exec $alone /usr/bin/env -i /bin/sh ${quote(folder.enter)}`,
  ].join('\n')}\n`
}

function redirections(order: LaunchOrder, folder: AttemptFolder): string[] {
  const stdin = order.stdin === undefined ? '/dev/null' : folder.stdin
  if (order.mode === 'tty') return order.stdin === undefined ? [] : [`exec <${quote(stdin)}`]
  const stderr = order.mergeStderr ? '2>&1' : `2>>${quote(folder.stderr)}`
  return [`exec <${quote(stdin)} >>${quote(folder.stdout)} ${stderr}`]
}

/**
 * The sh program that gives the program its environment. Every user of the machine can read argument lists, so the
 * environment must never be in one: it travels in this file, which only its user can read.
 */
export function enterFile(argv: readonly string[], env: Readonly<Record<string, string>>): Uint8Array {
  const lines = Object.entries(env)
    .filter(([name]) => canExport(name))
    .map(([name, value]) => exportLine(name, value))
  // The words before the program's come as arguments, because no variable can change those.
  return encodeLossless(`${[SHELL_OWN, ...lines, `exec "$@" ${argv.map(quote).join(' ')}`].join('\n')}\n`)
}

/** A shell exports these of its own accord. */
const SHELL_OWN = 'unset PWD OLDPWD SHLVL'

/** Where sh is bash, some variables are read-only and setting one ends the shell: there bash's own value is exported. */
const READ_ONLY_IN_BASH = new Set(['BASHOPTS', 'BASH_VERSINFO', 'EUID', 'PPID', 'SHELLOPTS', 'UID'])

function exportLine(name: string, value: string): string {
  const line = `export ${name}=${quote(value)}`
  return READ_ONLY_IN_BASH.has(name) ? `if [ -n "\${BASH_VERSION-}" ]; then export ${name}; else ${line}; fi` : line
}
