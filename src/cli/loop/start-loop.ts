import type { Config } from '../../api/config/load-config.ts'
import type { RunRequest } from '../../api/contract/run-request.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import { ensureDaemon } from '../daemon/start-and-stop-daemon.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { INTERRUPTED } from '../terminal/interrupts.ts'
import { printAutonomyNoticeOnce } from '../run/warnings-before-run.ts'
import { printDockerNotice } from '../run/warnings-before-run.ts'
import { deferInterrupt } from '../terminal/interrupts.ts'
import { toJson } from '../terminal/format.ts'
import { bellTerminal, type CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'

/**
 * Starts a loop; returns an exit code if the user interrupted the start. `worker` is the template of the workers'
 * requests.
 */
export async function startLoop(
  request: RunRequest,
  worker: RunRequest,
  args: ParsedArgs,
  config: Config,
  context: CommandContext,
): Promise<SessionView | number> {
  const { home, env, screen } = context
  printDockerNotice(request, args, context)
  const client = await ensureDaemon({ home, env })
  const tty = bellTerminal(context)
  const fullRequest = { ...request, umask: context.host.umask(), ...(tty !== undefined && { tty }) }
  const { session, isInterrupted } = await deferInterrupt(screen, () => client.run(fullRequest))
  if (isInterrupted) {
    screen.err.printLine(`${session.name} was already started; stop it with: oneshot stop ${session.name}`)
    return INTERRUPTED
  }
  printAutonomyNoticeOnce(worker, args, config, context)
  return session
}

/** Prints the started loop, or follows it. */
export async function presentLoop(session: SessionView, args: ParsedArgs, context: CommandContext): Promise<number> {
  const { screen } = context
  const { out, err, isQuiet } = screen
  const { name } = session
  if (args.has(OPTIONS.follow)) {
    if (!isQuiet) err.printLine(`${name}  (Ctrl-C leaves it running)`)
    const { followSession } = await import('../session/follow-session.ts')
    return await followSession(context, session, { log: { raw: false, colour: out.isColoured }, passStatus: true })
  }
  if (args.has(OPTIONS.json)) out.printLine(toJson(session))
  else if (isQuiet || !out.isTerminal) out.printLine(name)
  else
    for (const text of [
      out.paint.bold(name),
      `  ${out.paint.dim('board'.padEnd(7))} oneshot ralph status ${name} --watch`,
      `  ${out.paint.dim('attach'.padEnd(7))} oneshot attach ${name}`,
      `  ${out.paint.dim('stop'.padEnd(7))} oneshot stop ${name}`,
    ])
      out.printLine(text)
  return 0
}
