import { refusal } from '../../api/contract/problems.ts'
import { shownName } from '../../api/contract/shown-name.ts'
import { isLive } from '../session/find-session.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { INTERRUPTED, untilInterrupted } from '../terminal/interrupts.ts'
import { toJson } from '../terminal/format.ts'
import { pickSession } from '../session/find-session.ts'
import { stateLine } from '../session/format-session.ts'
import { makeSpaceWhile, requestStop } from '../session/stop-sessions.ts'
import { waitForNoProcesses } from '../session/wait.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { sessionArgument } from '../args/command-definition.ts'

export const command: Command = {
  name: 'hold',
  group: 'Work',
  order: 70,
  summary: 'pause a session until you resume it',
  about: `The processes are ended as with stop, but the session does not end: it keeps its
messages, its time limit is paused, and oneshot does not start it again, not even after
a reboot, until you call oneshot resume.`,
  arguments: [sessionArgument('live')],
  options: [OPTIONS.json],
  examples: [{ argv: ['hold', 'fix-auth'], description: 'pause it over the weekend' }],
  run: hold,
}

async function hold(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { home, screen } = context
  const session = pickSession(context, args.positionals[0], isLive)
  if (!isLive(session))
    throw refusal('session-ended', `${shownName(session)} has already ended`, `oneshot status ${shownName(session)}`)
  const held = await requestStop(context, [session], 'hold', client => client.hold(session.id))
  let latest = held
  const { ended } = await untilInterrupted(screen, {}, async signal => {
    latest = await makeSpaceWhile(context, { sessions: () => [latest], request: 'hold' }, () =>
      waitForNoProcesses(home, held, { signal, onChange: view => (latest = view) }),
    )
  })
  if (args.has(OPTIONS.json)) screen.out.printLine(toJson(latest))
  else if (!screen.isQuiet) screen.out.printLine(stateLine(latest, screen.out.paint))
  return ended === 'interrupted' ? INTERRUPTED : 0
}
