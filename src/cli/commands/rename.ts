import { ensureDaemon } from '../daemon/ensure-daemon.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { toJson } from '../terminal/format.ts'
import { pickSession } from '../session/find-session.ts'
import { stateLine } from '../session/format.ts'
import type { CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'

export async function rename(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { home, screen } = context
  const [word, name = ''] = args.positionals
  const session = pickSession(context, word)
  const renamed = await (await ensureDaemon(home)).rename(session.id, { name })
  if (args.has(OPTIONS.json)) screen.out.printLine(toJson(renamed))
  else if (!screen.isQuiet) screen.out.printLine(stateLine(renamed, screen.out.paint))
  return 0
}
