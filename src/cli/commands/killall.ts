import { refusal } from '../../api/contract/problems.ts'
import { findLive } from '../../views/session-search.ts'
import { isLive } from '../session/find-session.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { confirmDefaultNo } from '../terminal/confirm.ts'
import { toJson } from '../terminal/format.ts'
import { stateLine } from '../session/format-session.ts'
import { stopSessions } from '../session/stop-sessions.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'

export const command: Command = {
  name: 'killall',
  group: 'Work',
  order: 120,
  summary: 'stop all sessions',
  arguments: [],
  options: [OPTIONS.yes, OPTIONS.timeout, OPTIONS.json],
  examples: [
    { argv: ['killall'], description: 'list them and ask' },
    { argv: ['killall', '--yes'], description: 'from a script' },
  ],
  run: killall,
}

async function killall(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { screen, home } = context
  const { out, err } = screen
  const live = findLive(home)
  if (live.length === 0) {
    if (args.has(OPTIONS.json)) out.printLine(toJson([]))
    else if (!screen.isQuiet) err.printLine('nothing is running')
    return 0
  }
  const countText = live.length === 1 ? '1 session' : `${live.length} sessions`
  if (!args.has(OPTIONS.yes)) {
    if (!screen.mayAsk) throw refusal('needs-yes', `this would stop ${countText}`, 'oneshot killall --yes')
    for (const session of live) err.printLine(`  ${stateLine(session, err.paint)}`)
    if (!(await confirmDefaultNo(`stop ${countText}?`, screen))) return 1
  }
  const { views, code } = await stopSessions(context, live, { timeout: args.value(OPTIONS.timeout), wait: true })
  if (args.has(OPTIONS.json)) out.printLine(toJson(views))
  else if (!screen.isQuiet)
    for (const view of views.filter(view => !isLive(view))) out.printLine(stateLine(view, out.paint))
  return code
}
