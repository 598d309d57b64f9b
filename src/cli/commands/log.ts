import { readLog } from '../../views/output-log.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { INTERRUPTED, untilInterrupted } from '../terminal/interrupts.ts'
import { LOG_OPTIONS, parseLogOptions } from '../session/follow-session.ts'
import { pickSession } from '../session/find-session.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { follow } from './follow.ts'
import { sessionArgument } from '../args/command-definition.ts'

export const command: Command = {
  name: 'log',
  aliases: ['logs'],
  group: 'Look',
  order: 40,
  summary: 'show what a session wrote',
  about: 'Of a full-screen program such as an editor it shows the last screen; to watch it: oneshot attach.',
  arguments: [sessionArgument('sessions')],
  options: [...LOG_OPTIONS, OPTIONS.follow],
  examples: [
    { argv: ['log', 'fix-auth', '-n', '50'], description: 'the last 50 lines' },
    { argv: ['log', '--since', '10m'], description: 'the last ten minutes' },
    { argv: ['log', 'fix-auth', '--raw'], shell: '> output.bin', description: 'every byte as it was written' },
  ],
  run: log,
}

async function log(args: ParsedArgs, context: CommandContext): Promise<number> {
  if (args.has(OPTIONS.follow)) return await follow(args, context)
  const { screen } = context
  const { out } = screen
  const session = pickSession(context, args.positionals[0])
  const outcome = await untilInterrupted(screen, { outlet: out }, async signal => {
    for await (const bytes of readLog(context.home, session, parseLogOptions(args, session, out))) {
      if (signal.aborted) break
      await out.write(bytes)
    }
  })
  return outcome.ended === 'interrupted' ? INTERRUPTED : 0
}
