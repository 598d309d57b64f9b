import { refusal } from '../api/contract/problems.ts'
import type { Home } from '../world/os/home.ts'
import type { CliHooks } from './hooks.ts'
import type { Line } from './line/line.ts'
import type { Screen } from './screen/screen.ts'

/** Where a command is given. */
export interface Surroundings {
  readonly screen: Screen
  readonly env: NodeJS.ProcessEnv
  readonly home: Home
  readonly hooks: CliHooks
  /** As the shell passed it, for a look at the bytes behind a word. */
  readonly argv: readonly string[]
}

/** Carries a command out and answers with the exit code. */
export type Deed = (line: Line, surroundings: Surroundings) => Promise<number>

/** The directory we stand in. It may have been removed under us. */
export function here(): string {
  try {
    return process.cwd()
  } catch {
    throw refusal('cwd-missing', 'the current directory no longer exists', 'cd to another one')
  }
}
