import type { SessionView } from '../../api/contract/responses.ts'
import { describeAnswer } from '../../views/session-state.ts'
import { ensureDaemon } from '../daemon/ensure-daemon.ts'
import { isLive } from '../session/find-session.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { INTERRUPTED, untilInterrupted, TIMED_OUT } from '../terminal/interrupts.ts'
import { toJson } from '../terminal/format.ts'
import type { Screen } from '../terminal/screen.ts'
import { exitStatusFor } from '../session/format.ts'
import { pickSessions } from '../session/find-session.ts'
import { stateLine } from '../session/format.ts'
import { waitForEnd } from '../session/wait.ts'
import type { CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'

export async function wait(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { screen, home } = context
  const sessions = pickSessions(context, args.positionals)
  if (sessions.some(isLive)) await ensureDaemon(home) // Only the supervisor records the end.
  const latest = new Map(sessions.map(session => [session.id, session]))
  const outcome = await untilInterrupted({ timeout: args.value(OPTIONS.timeout) }, signal =>
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
  const names = views.filter(view => view.phase !== 'ended').map(view => view.name)
  const why = outcome.ended === 'interrupted' ? '\nstopped waiting' : 'waited long enough'
  if (!args.has(OPTIONS.json) || screen.err.isTerminal)
    screen.err.printLine(`${why}; the work continues: ${names.join(', ')}`)
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
