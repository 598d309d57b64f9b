import { type RunOptions, type RunResult, run } from './run.ts'

/** The target of a tmux command: a program, a socket, and the options before the command. */
export interface TmuxServer {
  readonly program: string
  readonly socket: string
  readonly options?: readonly string[]
}

/**
 * Runs a tmux command sequence; the word `;` separates commands. tmux reads the sequence on stdin, because every user
 * of the machine can read argument lists, session names come from prompts, and a server keeps the arguments of its
 * first client for life.
 */
export function runTmux(
  { program, socket, options = [] }: TmuxServer,
  command: readonly string[],
  runOptions: Pick<RunOptions, 'env' | 'timeout'>,
): Promise<RunResult> {
  // `source-file` starts no server, so a query to a server that is gone does not restart it.
  const startServer = command.includes('new-session') ? ['start-server', ';'] : []
  const args = ['-S', socket, ...options, ...startServer, 'source-file', '-']
  return run(program, args, { ...runOptions, input: `${toTmuxLine(command)}\n` })
}

/** Renders the words as a line of a tmux configuration. */
function toTmuxLine(command: readonly string[]): string {
  return command.map(word => (word === ';' ? word : quoteForTmux(word))).join(' ')
}

/** Quotes a word. Within single quotes, tmux would remove the spaces after a line break. */
function quoteForTmux(word: string): string {
  const parts = word.split(/(['\n])/).map(part => {
    if (part === "'") return `"'"`
    return part === '\n' ? '"\\n"' : `'${part}'`
  })
  return parts.join('')
}
