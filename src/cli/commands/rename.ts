import { ensureDaemon } from '../daemon/start-and-stop-daemon.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { toJson } from '../terminal/format.ts'
import { pickSession } from '../session/find-session.ts'
import { stateLine } from '../session/format-session.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { sessionArgument } from '../args/command-definition.ts'
import { textType } from '../args/value-types.ts'

export const command: Command = {
  name: 'rename',
  group: 'Work',
  order: 110,
  summary: 'give a session another name',
  about: `oneshot lists the session under the new name, and every command accepts it. The first
name stays valid: checkpoints, the .agent folder and the tmux session keep it.`,
  arguments: [
    { ...sessionArgument('sessions'), isRequired: true, summary: 'name, task, id or a unique beginning' },
    { valueType: textType('NEW'), summary: 'lower-case letters, digits and hyphens', isRequired: true },
  ],
  options: [OPTIONS.json],
  examples: [{ argv: ['rename', 'demo-task', 'login'], description: 'then: oneshot status login' }],
  run: rename,
}

async function rename(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { screen } = context
  const [word, name = ''] = args.positionals
  const session = pickSession(context, word)
  const renamed = await (await ensureDaemon(context)).rename(session.id, { name })
  if (args.has(OPTIONS.json)) screen.out.printLine(toJson(renamed))
  else if (!screen.isQuiet) screen.out.printLine(stateLine(renamed, screen.out.paint))
  return 0
}
