import { ensureDaemon } from '../daemon/start-and-stop-daemon.ts'
import { isLive } from '../session/find-session.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { INTERRUPTED, untilInterrupted } from '../terminal/interrupts.ts'
import { toJson } from '../terminal/format.ts'
import { pickSession } from '../session/find-session.ts'
import { stateLine } from '../session/format-session.ts'
import { waitForNoProcesses } from '../session/wait.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { sessionArgument } from '../args/command-definition.ts'

export const command: Command = {
  name: 'restart',
  group: 'Work',
  order: 100,
  summary: 'end a session’s process and start it again',
  about: `An agent continues in the same conversation; a command is run again. A session that has
ended is resumed, if it can be.`,
  arguments: [sessionArgument('live')],
  options: [OPTIONS.json],
  examples: [{ argv: ['restart', 'fix-auth'], description: 'a fresh process, the same conversation' }],
  run: restart,
}

/** Holds a live session until none of its processes is left, and resumes it. */
async function restart(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { home, screen } = context
  const session = pickSession(context, args.positionals[0], isLive)
  const client = await ensureDaemon(context)
  if (isLive(session)) {
    const held = await client.hold(session.id)
    const { ended } = await untilInterrupted(screen, {}, signal => waitForNoProcesses(home, held, { signal }))
    if (ended === 'interrupted') return INTERRUPTED
  }
  const resumed = await client.resume(session.id)
  if (args.has(OPTIONS.json)) screen.out.printLine(toJson(resumed))
  else if (!screen.isQuiet) screen.out.printLine(stateLine(resumed, screen.out.paint))
  return 0
}
