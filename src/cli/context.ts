import path from 'node:path'
import { refusal } from '../api/contract/problems.ts'
import type { Home } from '../state/home.ts'
import type { SessionId } from '../state/session-folder.ts'
import type { CliHost } from './host.ts'
import type { CommandDefinition, CommandHeader } from './args/command-definition.ts'
import type { ParsedArgs } from './args/parsed-args.ts'
import type { Screen } from './terminal/command-streams.ts'
import type { LandedView, PreflightView, RetriedView } from '../api/contract/loop-view.ts'
import type { RunRequest } from '../api/contract/run-request.ts'

/** The dependencies of a command. */
export interface CommandContext {
  readonly screen: Screen
  readonly host: CliHost
  readonly env: NodeJS.ProcessEnv
  readonly home: Home
  readonly hooks: CliHooks
  readonly commands: readonly CommandEntry[]
  /** The arguments as the shell passed them, for the bytes behind a word. */
  readonly argv: readonly string[]
}

/** A command: its definition, and the function that runs it and returns the exit code. */
export interface Command extends CommandDefinition {
  readonly run: (args: ParsedArgs, context: CommandContext) => Promise<number>
}

/** A command in the index. Its definition and its code load on demand: loading is most of the time of a short command. */
export interface CommandEntry extends CommandHeader {
  readonly load: () => Promise<Command>
}

/** Returns the current directory, or refuses if another program has removed it. */
export function currentDirectory({ host }: Pick<CommandContext, 'host'>): string {
  try {
    return host.cwd()
  } catch {
    throw refusal('cwd-missing', 'the current directory no longer exists', 'cd to another one')
  }
}

/** Returns the absolute path of a file that the user named. */
export function resolvePath(context: Pick<CommandContext, 'host'>, file: string): string {
  return path.isAbsolute(file) ? path.resolve(file) : path.resolve(currentDirectory(context), file)
}

/**
 * Returns the terminal of the user, where a bell rings. Returns undefined inside a session: oneshot records that
 * terminal, and a bell does not belong there.
 */
export function bellTerminal({ host, env }: Pick<CommandContext, 'host' | 'env'>): string | undefined {
  return env['ONESHOT_ATTEMPT'] === undefined ? host.ttyPath() : undefined
}

/** The actions that the command line needs but may not import; `main.ts` provides them. A number is an exit code. */
export interface CliHooks {
  /** Runs the agent in this terminal, without any supervision. */
  runDirect(request: RunRequest): Promise<number>
  demo(options: { keep: boolean }): Promise<number>
  /** Inspects the project and the list for a loop. */
  preflight(request: {
    cwd: string
    list: string | null
    env: Readonly<Record<string, string>>
    patterns?: readonly string[]
    beads?: boolean
  }): Promise<PreflightView>
  /** Merges the loop's commits into the user's checkout. */
  landLoop(home: Home, sessionId: SessionId, how: { isSquash: boolean; isDry: boolean }): Promise<LandedView>
  /** Reopens a task of a loop that does not run. */
  retryTask(home: Home, sessionId: SessionId, task: string, options: { isFresh: boolean }): Promise<RetriedView>
}
