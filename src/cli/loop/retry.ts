import { refusal } from '../../api/contract/problems.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { ensureDaemon } from '../daemon/start-and-stop-daemon.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { toJson } from '../terminal/format.ts'
import type { CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { pickLoop } from './find-loop.ts'

/** Reopens a task and resumes the loop. */
export async function retryCommand(
  args: ParsedArgs,
  context: CommandContext,
  { task, loop: word }: { task: string | undefined; loop: string | undefined },
): Promise<number> {
  const { home, hooks, screen } = context
  const { out } = screen
  if (task === undefined)
    throw refusal('usage', 'ralph retry needs the number of a task', 'oneshot ralph status shows them')
  const loop = pickLoop(context, word)
  const retried = await hooks.retryTask(home, loop.id, task, { isFresh: args.has(OPTIONS.discardWork) })
  const session = await (await ensureDaemon(context)).resume(loop.id)
  if (args.has(OPTIONS.json)) out.printLine(toJson({ ...retried, session }))
  else if (!screen.isQuiet) {
    out.printLine(
      `${out.paint.bold(retried.name)} tries task ${retried.task.id} again: ${toOneLine(retried.task.title)}`,
    )
    if (retried.left !== null) out.printLine(`  its earlier work stays on ${retried.left}`)
  }
  return 0
}
