import { exitCodeOf, toProblem } from '../../api/contract/problems.ts'
import { isRefusal } from '../../lib/errors.ts'
import { renderTerminalText } from '../../lib/text/strip-terminal-controls.ts'
import { Trouble, errorMessage } from '../../lib/errors.ts'
import { toJson } from './format.ts'
import type { Screen } from './command-streams.ts'

/** Prints an error for a person or a program, and returns the exit code. */
export function printError(cause: unknown, screen: Screen, options: { json: boolean; debug: boolean }): number {
  const error = isRefusal(cause) ? toProblem(cause) : describeUnexpectedError(cause)
  if (options.debug && cause instanceof Error) screen.err.printLine(cause.stack ?? cause.message)
  if (options.json) {
    screen.out.printLine(toJson({ error }))
    return exitCodeOf(error.code)
  }
  const { paint } = screen.err
  screen.err.printLine(`${paint.red('error:')} ${withoutControls(error.message)}`)
  if (error.hint !== undefined) screen.err.printLine(`${paint.cyan('hint:')} ${withoutControls(error.hint)}`)
  return exitCodeOf(error.code)
}

function describeUnexpectedError(cause: unknown): { code: 'world-failed' | 'bug'; message: string; hint: string } {
  const code = cause instanceof Trouble ? 'world-failed' : 'bug'
  return {
    code,
    message: errorMessage(cause),
    hint: 'set ONESHOT_DEBUG=1 to see where it happened; oneshot doctor checks the set-up',
  }
}

/** A message may quote foreign text. */
function withoutControls(text: string): string {
  return renderTerminalText(text, { colour: false })
}
