import type { ParsedArgs } from '../args/parsed-args.ts'
import { followSession, LOG_OPTIONS, parseLogOptions } from '../session/follow-session.ts'
import { pickSession } from '../session/find-session.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { sessionArgument } from '../args/command-definition.ts'

export const command: Command = {
  name: 'follow',
  group: 'Look',
  order: 50,
  summary: 'show what a session writes until it has ended',
  about: 'The same as oneshot log --follow. Ctrl-C ends this command, never the work.',
  arguments: [sessionArgument('live')],
  options: [...LOG_OPTIONS, OPTIONS.exitStatus],
  examples: [
    { argv: ['follow'], description: 'this directory’s most recent session' },
    { argv: ['follow', 'fix-auth', '-n', '20'], description: 'start with its last 20 lines' },
  ],
  run: follow,
}

export async function follow(args: ParsedArgs, context: CommandContext): Promise<number> {
  const session = pickSession(context, args.positionals[0])
  const log = parseLogOptions(args, session, context.screen.out)
  return await followSession(context, session, { log, passStatus: args.has(OPTIONS.exitStatus) })
}
