import { type RunOptions, type RunResult, run } from './run.ts'

/** Where the command goes: a program, a socket, and options that stand before the command. */
export interface TmuxServer {
  readonly program: string
  readonly socket: string
  readonly options?: readonly string[]
}

/**
 * Runs a tmux command sequence; a word `;` separates commands. tmux reads it on stdin: every user of the machine can read
 * argument lists, names of sessions are made from prompts, and a server keeps the arguments of its first client for life.
 */
export function runTmux(
  { program, socket, options = [] }: TmuxServer,
  command: readonly string[],
  runOptions: Pick<RunOptions, 'env' | 'timeout'>,
): Promise<RunResult> {
  // `source-file` starts no server, so that a look at one that is gone does not bring it back.
  const startServer = command.includes('new-session') ? ['start-server', ';'] : []
  const args = ['-S', socket, ...options, ...startServer, 'source-file', '-']
  return run(program, args, { ...runOptions, input: `${toTmuxLine(command)}\n` })
}

/** The same words as a line of a tmux configuration. */
function toTmuxLine(command: readonly string[]): string {
  return command.map(word => (word === ';' ? word : quoteForTmux(word))).join(' ')
}

/** tmux would remove the spaces that follow a line break within single quotes. */
function quoteForTmux(word: string): string {
  const parts = word.split(/(['\n])/).map(part => {
    if (part === "'") return `"'"`
    return part === '\n' ? '"\\n"' : `'${part}'`
  })
  return parts.join('')
}
