import { exitCodeOf, problemOf } from '../../api/contract/problems.ts'
import { isRefusal } from '../../lib/refusal.ts'
import { readable } from '../../lib/terminal-text.ts'
import { Trouble, wordsOf } from '../../lib/trouble.ts'
import { toJson } from './json.ts'
import type { Screen } from './screen.ts'

/** Tells a person or a program why it did not work, and answers with the exit code. */
export function tell(cause: unknown, screen: Screen, options: { json: boolean; debug: boolean }): number {
  const problem = isRefusal(cause) ? problemOf(cause) : unexpected(cause)
  if (options.debug && cause instanceof Error) screen.err.say(cause.stack ?? cause.message)
  if (options.json) {
    screen.out.say(toJson({ error: problem }))
    return exitCodeOf(problem.code)
  }
  const { paint } = screen.err
  screen.err.say(`${paint.red('error:')} ${plain(problem.message)}`)
  if (problem.hint !== undefined) screen.err.say(`${paint.cyan('hint:')} ${plain(problem.hint)}`)
  return exitCodeOf(problem.code)
}

function unexpected(cause: unknown): { code: 'world-failed' | 'bug'; message: string; hint: string } {
  const code = cause instanceof Trouble ? 'world-failed' : 'bug'
  return {
    code,
    message: wordsOf(cause),
    hint: 'set ONESHOT_DEBUG=1 to see where it happened; oneshot doctor checks the set-up',
  }
}

/** A message may quote what others wrote. */
function plain(text: string): string {
  return readable(text, { colour: false })
}
