import type { ParsedArgs } from '../args/parsed-args.ts'
import { OPTIONS } from '../args/options.ts'
import { isTerminal } from './tty.ts'
import { Output } from './output.ts'
import { shouldUseColor } from './colors.ts'

/** What a command speaks through. Data goes to `out`, everything else to `err`. */
export interface Screen {
  readonly out: Output
  readonly err: Output
  /** Somebody sits at a terminal and has not said --no-input. */
  readonly mayAsk: boolean
  readonly isQuiet: boolean
}

/** Without a line, as when it could not be understood, only the environment decides. */
export function openScreen(args: ParsedArgs | undefined, env: NodeJS.ProcessEnv): Screen {
  const choice = args?.value(OPTIONS.color)
  const colour = (isSeen: boolean): boolean => shouldUseColor(choice, env, isSeen)
  return {
    out: new Output(1, colour),
    err: new Output(2, colour),
    get mayAsk() {
      return isTerminal(0) && isTerminal(2) && args?.has(OPTIONS.noInput) !== true
    },
    isQuiet: args?.has(OPTIONS.quiet) === true,
  }
}

/** Whoever has waited this long in silence wonders, in milliseconds. */
const SLOW_AFTER = 1_000

/** Tells a person what is waited for, once that takes a while. */
export async function noticeWhenSlow<T>(text: string, { err, isQuiet }: Screen, operation: Promise<T>): Promise<T> {
  if (isQuiet || !err.isTerminal) return operation
  const timer = setTimeout(() => err.printLine(text), SLOW_AFTER)
  return operation.finally(() => clearTimeout(timer))
}
