import { quote } from '../../lib/quote.ts'
import type { LaunchOrder } from '../../ports/work.ts'
import type { AttemptFolder } from '../os/folders.ts'

const USUAL_UMASK = 0o022

/**
 * The sh program that becomes the agent. It writes down who it is, rings, and turns into the program by exec, so that
 * the recorded pid is the program's; through $alone, where the shim that reads it has set that. Every word in it is quoted; prompts are not in it, they arrive on stdin.
 */
export function launchFile(
  order: LaunchOrder,
  files: { folder: AttemptFolder; letter: string; env: Record<string, string> },
): string {
  const { folder, letter, env } = files
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
    // By its full name: a long PATH takes a shell as long as starting a program does.
    `exec $alone /usr/bin/env -i -- ${words(env, order.argv)}`,
  ].join('\n')}\n`
}

function redirections(order: LaunchOrder, folder: AttemptFolder): string[] {
  const stdin = order.stdin === undefined ? '/dev/null' : folder.stdin
  if (order.mode === 'tty') return order.stdin === undefined ? [] : [`exec <${quote(stdin)}`]
  const stderr = order.mergeStderr ? '2>&1' : `2>>${quote(folder.stderr)}`
  return [`exec <${quote(stdin)} >>${quote(folder.stdout)} ${stderr}`]
}

/** env(1) takes every word with a `=` before the program for a variable; a program with one in its path needs a detour. */
function words(env: Record<string, string>, argv: readonly string[]): string {
  const variables = Object.entries(env).map(([name, value]) => quote(`${name}=${value}`))
  const program = argv[0]?.includes('=') ? ['/bin/sh -c \'exec "$@"\' sh'] : []
  return [...variables, ...program, ...argv.map(quote)].join(' ')
}
