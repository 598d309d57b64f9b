import type { SessionView } from '../../api/contract/responses.ts'
import { shownName } from '../../api/contract/shown-name.ts'
import { describeAnswer } from '../../views/describe-session.ts'
import { ensureDaemon } from '../daemon/start-and-stop-daemon.ts'
import { isLive } from '../session/find-session.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { INTERRUPTED, untilInterrupted, TIMED_OUT } from '../terminal/interrupts.ts'
import { toJson } from '../terminal/format.ts'
import type { Screen } from '../terminal/command-streams.ts'
import { exitStatusFor } from '../session/format-session.ts'
import { pickSessions } from '../session/find-session.ts'
import { stateLine } from '../session/format-session.ts'
import { waitForEnd } from '../session/wait.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { sessionArgument } from '../args/command-definition.ts'

export const command: Command = {
  name: 'wait',
  group: 'Work',
  order: 130,
  summary: 'wait until sessions have ended, and exit with their outcome',
  about: `Exits with 0 when the work is done, otherwise with the program's exit code, 128 plus
the signal's number, or 1. With several names the first that is not 0 counts.
Ctrl-C ends this command, never the work.`,
  arguments: [{ ...sessionArgument('sessions'), isRepeated: true }],
  options: [OPTIONS.timeout, OPTIONS.json],
  examples: [
    { argv: ['wait', 'fix-auth'], shell: '&& git push', description: 'push only when it is done' },
    { argv: ['wait', 'fix-auth', 'docs', '--timeout', '2h'], description: 'wait for two, but not for ever' },
  ],
  run: wait,
}

async function wait(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { screen, home } = context
  const sessions = pickSessions(context, args.positionals)
  if (sessions.some(isLive)) await ensureDaemon(context) // Only the supervisor records the end.
  const latest = new Map(sessions.map(session => [session.id, session]))
  const outcome = await untilInterrupted(screen, { timeout: args.value(OPTIONS.timeout) }, signal =>
    Promise.all(
      sessions.map(session => {
        const announce = args.has(OPTIONS.json) && !screen.err.isTerminal ? () => undefined : stateAnnouncer(screen)
        const onChange = (view: SessionView): void => {
          latest.set(view.id, view)
          announce(view)
        }
        return waitForEnd(home, session, { signal, onChange })
      }),
    ),
  )
  const views = [...latest.values()]
  if (args.has(OPTIONS.json)) screen.out.printLine(toJson(views.length === 1 ? views[0] : views))
  if (outcome.ended === 'by-itself') return views.map(exitStatusFor).find(code => code !== 0) ?? 0
  const names = views.filter(view => view.phase !== 'ended').map(shownName)
  const why = outcome.ended === 'interrupted' ? '\nstopped waiting' : 'the timeout is over'
  if (!args.has(OPTIONS.json) || screen.err.isTerminal)
    screen.err.printLine(`${why}; not ended yet: ${names.join(', ')}`)
  return outcome.ended === 'interrupted' ? INTERRUPTED : TIMED_OUT
}

/** Prints the end, and each time once that the session waits for a person. */
function stateAnnouncer({ err, isQuiet }: Screen): (view: SessionView) => void {
  let wasBlocked = false
  return view => {
    const isBlocked = view.phase === 'blocked'
    if (isBlocked && !wasBlocked) err.printLine(`${stateLine(view, err.paint)} (${describeAnswer(view)})`)
    if (view.phase === 'ended' && !isQuiet) err.printLine(stateLine(view, err.paint))
    wasBlocked = isBlocked
  }
}
