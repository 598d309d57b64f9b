import { readLog } from '../../views/log.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { INTERRUPTED, untilInterrupted } from '../terminal/interrupts.ts'
import { parseLogOptions } from '../session/follow-session.ts'
import { pickSession } from '../session/find-session.ts'
import type { CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { follow } from './follow.ts'

export async function log(args: ParsedArgs, context: CommandContext): Promise<number> {
  if (args.has(OPTIONS.follow)) return await follow(args, context)
  const { out } = context.screen
  const session = pickSession(context, args.positionals[0])
  const outcome = await untilInterrupted({ outlet: out }, async signal => {
    for await (const bytes of readLog(context.home, session, parseLogOptions(args, session, out))) {
      if (signal.aborted) break
      await out.write(bytes)
    }
  })
  return outcome.ended === 'interrupted' ? INTERRUPTED : 0
}
