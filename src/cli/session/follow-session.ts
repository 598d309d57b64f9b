import type { SessionView } from '../../api/contract/responses.ts'
import { shownName } from '../../api/contract/shown-name.ts'
import { followLog, type readLog } from '../../views/output-log.ts'
import { readSession } from '../../views/read-session.ts'
import { ensureDaemon } from '../daemon/start-and-stop-daemon.ts'
import { isLive } from './find-session.ts'
import { INTERRUPTED, untilInterrupted } from '../terminal/interrupts.ts'
import type { CommandContext } from '../context.ts'
import { checkOutputLines } from './failed-check-output.ts'
import { exitStatusFor, stateLine } from './format-session.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import type { Output } from '../terminal/output.ts'
import { resolveTime } from '../args/value-types.ts'
import { OPTIONS } from '../args/options.ts'

/** The options of `log` and `follow` that choose lines. */
export const LOG_OPTIONS = [OPTIONS.lines, OPTIONS.tail, OPTIONS.since, OPTIONS.raw, OPTIONS.attempt] as const

/** Shows a session's output until it has ended, and returns the exit code. */
export async function followSession(
  { screen, home, env }: CommandContext,
  session: SessionView,
  options: { log: LogOptions; passStatus: boolean },
): Promise<number> {
  const { out, err } = screen
  // Only a supervisor records the end; but the output is readable even if none can start.
  if (isLive(session)) await ensureDaemon({ home, env }).catch(() => undefined)
  const outcome = await untilInterrupted(screen, { outlet: out }, async signal => {
    for await (const bytes of followLog(home, session, options.log, signal)) await out.write(bytes)
  })
  if (outcome.ended === 'interrupted') {
    err.printLine(`\nthe work continues; stop it with: oneshot stop ${shownName(session)}`)
    return INTERRUPTED
  }
  if (outcome.ended === 'unread') return 0
  const last = readSession(home, session.id) ?? session
  if (!screen.isQuiet)
    for (const text of [stateLine(last, err.paint), ...checkOutputLines(home, last)]) err.printLine(text)
  return options.passStatus ? exitStatusFor(last) : 0
}

export type LogOptions = Parameters<typeof readLog>[2]

export function parseLogOptions(args: ParsedArgs, session: SessionView, out: Output): LogOptions {
  const lines = args.value(OPTIONS.lines) ?? args.value(OPTIONS.tail)
  const since = args.value(OPTIONS.since)
  const attempt = args.value(OPTIONS.attempt)
  if (attempt !== undefined && attempt > session.attempt) {
    throw refusal(
      'usage',
      `${shownName(session)} has had ${session.attempt} attempts, not ${attempt}`,
      `oneshot status ${shownName(session)}`,
    )
  }
  return {
    raw: args.has(OPTIONS.raw),
    colour: out.isColoured,
    ...(typeof lines === 'number' && { lines }),
    ...(since !== undefined && { since: resolveTime(since, Date.now()) }),
    ...(attempt !== undefined && { attempt }),
  }
}
