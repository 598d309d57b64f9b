import { ensureDaemon } from '../daemon/ensure-daemon.ts'
import { isLive } from '../session/find-session.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { INTERRUPTED, untilInterrupted } from '../terminal/interrupts.ts'
import { toJson } from '../terminal/format.ts'
import { pickSession } from '../session/find-session.ts'
import { stateLine } from '../session/format.ts'
import { waitForNoProcesses } from '../session/wait.ts'
import type { CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'

/** Holds a live session until none of its processes is left, and resumes it. */
export async function restart(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { home, screen } = context
  const session = pickSession(context, args.positionals[0], isLive)
  const client = await ensureDaemon(home)
  if (isLive(session)) {
    const held = await client.hold(session.id)
    const { ended } = await untilInterrupted({}, signal => waitForNoProcesses(home, held, signal))
    if (ended === 'interrupted') return INTERRUPTED
  }
  const resumed = await client.resume(session.id)
  if (args.has(OPTIONS.json)) screen.out.printLine(toJson(resumed))
  else if (!screen.isQuiet) screen.out.printLine(stateLine(resumed, screen.out.paint))
  return 0
}
