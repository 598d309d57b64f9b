import { refusal } from '../api/contract/problems.ts'
import type { Home } from '../state/home.ts'
import type { ParsedArgs } from './args/parsed-args.ts'
import type { Screen } from './terminal/screen.ts'
import type { LandedView, PreflightView, RetriedView } from '../api/contract/loop.ts'
import type { RunRequest } from '../api/contract/requests.ts'

/** Where a command is given. */
export interface CommandContext {
  readonly screen: Screen
  readonly env: NodeJS.ProcessEnv
  readonly home: Home
  readonly hooks: CliHooks
  /** As the shell passed it, for a look at the bytes behind a word. */
  readonly argv: readonly string[]
}

/** Carries a command out and answers with the exit code. */
export type CommandHandler = (line: ParsedArgs, surroundings: CommandContext) => Promise<number>

/** The directory we stand in. It may have been removed under us. */
export function currentDirectory(): string {
  try {
    return process.cwd()
  } catch {
    throw refusal('cwd-missing', 'the current directory no longer exists', 'cd to another one')
  }
}

/** What the command line needs done and may not do itself; `main.ts` plugs it in. A number is an exit code. */
export interface CliHooks {
  /** Runs the agent in this terminal, without any supervision. */
  runDirect(request: RunRequest): Promise<number>
  demo(options: { keep: boolean }): Promise<number>
  /** Looks at what a loop would find. */
  preflight(wish: {
    cwd: string
    list: string | null
    env: Readonly<Record<string, string>>
    patterns?: readonly string[]
    beads?: boolean
  }): Promise<PreflightView>
  /** Brings what a loop has merged into the user's checkout. */
  landLoop(home: Home, sessionId: string, how: { isSquash: boolean; isDry: boolean }): Promise<LandedView>
  /** Opens a task of a loop that does not run. */
  retryTask(home: Home, sessionId: string, task: string, options: { isFresh: boolean }): Promise<RetriedView>
}
