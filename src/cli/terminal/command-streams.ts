import type { ParsedArgs } from '../args/parsed-args.ts'
import { OPTIONS } from '../args/options.ts'
import type { CliHost, InputSource, SignalSource } from '../host.ts'
import { Output } from './output.ts'
import { shouldUseColor } from './colors.ts'

/** The terminal of a command, or what stands for it. Data goes to `out`, everything else to `err`. */
export interface Screen {
  readonly out: Output
  readonly err: Output
  readonly input: InputSource
  /** Ctrl-C and other signals. */
  readonly signals: SignalSource
  /** True if a person sits at a terminal and has not given --no-input. */
  readonly mayAsk: boolean
  readonly isQuiet: boolean
}

/** Without parsed arguments, as after a parse error, only the environment decides. */
export function openScreen(args: ParsedArgs | undefined, { env, stdin, stdout, stderr, signals }: CliHost): Screen {
  const choice = args?.value(OPTIONS.color)
  const colour = (isSeen: boolean): boolean => shouldUseColor(choice, env, isSeen)
  return {
    out: new Output(stdout, colour),
    err: new Output(stderr, colour),
    input: stdin,
    signals,
    get mayAsk() {
      return stdin.isTerminal && stderr.isTerminal && args?.has(OPTIONS.noInput) !== true
    },
    isQuiet: args?.has(OPTIONS.quiet) === true,
  }
}

/** In milliseconds. After a longer silence a person wonders. */
const SLOW_AFTER = 1_000

/** Prints the reason of a wait to a person, once the wait takes a while. */
export async function noticeWhenSlow<T>(text: string, { err, isQuiet }: Screen, operation: Promise<T>): Promise<T> {
  if (isQuiet || !err.isTerminal) return operation
  const timer = setTimeout(() => err.printLine(text), SLOW_AFTER)
  return operation.finally(() => clearTimeout(timer))
}
