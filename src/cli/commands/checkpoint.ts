import { ensureDaemon } from '../daemon/start-and-stop-daemon.ts'
import { shownName } from '../../api/contract/shown-name.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { noticeWhenSlow } from '../terminal/command-streams.ts'
import { toJson } from '../terminal/format.ts'
import { formatDiffStat, formatLeftOut } from '../session/format-session.ts'
import { pickSession } from '../session/find-session.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { sessionArgument } from '../args/command-definition.ts'

export const command: Command = {
  name: 'checkpoint',
  group: 'Keep',
  order: 10,
  summary: 'save the working tree of a session now',
  about: `The whole working tree is saved in git, untracked files included, ignored ones not,
under refs/oneshot/NAME/ID. Your index, branch, stash and hooks are not touched. When
nothing has changed since the last one, nothing is written.`,
  arguments: [sessionArgument('sessions')],
  options: [OPTIONS.json],
  examples: [{ argv: ['checkpoint', 'fix-auth'], description: 'before you try something' }],
  run: checkpoint,
}

async function checkpoint(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { screen } = context
  const { out } = screen
  const session = pickSession(context, args.positionals[0])
  const { checkpoint: saved, isNew } = await noticeWhenSlow(
    'saving the working tree …',
    screen,
    (await ensureDaemon(context)).checkpoint(session.id),
  )
  const message = isNew
    ? `checkpoint ${saved.number}: ${formatDiffStat(saved)}`
    : `nothing ${saved.leftOut.length > 0 ? 'else ' : ''}has changed since checkpoint ${saved.number}`
  if (args.has(OPTIONS.json)) out.printLine(toJson({ checkpoint: saved, isNew }))
  else if (screen.isQuiet || !out.isTerminal) {
    out.printLine(String(saved.number))
    if (!screen.isQuiet) for (const sentence of saved.leftOut) screen.err.printLine(formatLeftOut(sentence))
  } else
    out.printLine(
      [`${out.paint.bold(shownName(session))}: ${message}`, ...saved.leftOut.map(formatLeftOut)].join('\n  '),
    )
  return 0
}
