import type { ParsedArgs } from '../args/parsed-args.ts'
import { followSession } from '../session/follow-session.ts'
import { parseLogOptions } from '../session/follow-session.ts'
import { pickSession } from '../session/find-session.ts'
import type { CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'

export async function follow(args: ParsedArgs, context: CommandContext): Promise<number> {
  const session = pickSession(context, args.positionals[0])
  const log = parseLogOptions(args, session, context.screen.out)
  return await followSession(context, session, { log, passStatus: args.has(OPTIONS.exitStatus) })
}
