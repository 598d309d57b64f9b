import type { SessionView } from '../../api/contract/responses.ts'
import { isLive } from '../session/find-session.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { toJson } from '../terminal/format.ts'
import { pickSession, pickSessions } from '../session/find-session.ts'
import { stateLine } from '../session/format-session.ts'
import { stopSessions } from '../session/stop-sessions.ts'
import { waitForCheckpoint } from '../session/wait.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { sessionArgument } from '../args/command-definition.ts'

export const command: Command = {
  name: 'stop',
  aliases: ['kill'],
  group: 'Work',
  order: 90,
  summary: 'stop sessions and everything they started',
  about: `A session is interrupted first, then terminated, then killed, with its whole process
tree. --now kills it at once. Its output is kept: see oneshot log.`,
  arguments: [{ ...sessionArgument('live'), isRepeated: true }],
  options: [OPTIONS.now, OPTIONS.noWait, OPTIONS.timeout, OPTIONS.json],
  examples: [
    { argv: ['stop', 'fix-auth', 'docs'], description: 'stop two' },
    { argv: ['stop', 'fix-auth'], description: 'stop it and wait until all its processes have ended' },
    { argv: ['stop', 'fix-auth', '--no-wait'], description: 'do not wait for the end' },
  ],
  run: stop,
}

async function stop(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { screen } = context
  const selected =
    args.positionals.length === 0 ? [pickSession(context, undefined)] : pickSessions(context, args.positionals)
  const live = selected.filter(isLive)
  if (!screen.isQuiet && !args.has(OPTIONS.json))
    for (const session of selected.filter(session => !isLive(session)))
      screen.err.printLine(`already ended: ${stateLine(session, screen.err.paint)}`)
  const { views, code } =
    live.length === 0
      ? { views: [], code: 0 }
      : await stopSessions(context, live, {
          timeout: args.value(OPTIONS.timeout),
          wait: !args.has(OPTIONS.noWait),
          now: args.has(OPTIONS.now),
        })
  const results = selected.map(session => views.find(({ id }) => id === session.id) ?? session)
  if (args.has(OPTIONS.json)) screen.out.printLine(toJson(results.length === 1 ? results[0] : results))
  else if (!screen.isQuiet && code === 0)
    await printStopped(
      results.filter(({ id }) => live.some(session => session.id === id)),
      context,
    )
  return code
}

async function printStopped(views: readonly SessionView[], { screen, home }: CommandContext): Promise<void> {
  for (const view of views) {
    screen.out.printLine(stateLine(view, screen.out.paint))
    if (screen.out.isTerminal) for (const text of await waitForCheckpoint(home, view)) screen.out.printLine(`  ${text}`)
  }
}
