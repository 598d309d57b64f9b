import { loadConfig } from '../../api/config/load-config.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import { toOneLine } from '../../lib/text/terminal-text.ts'
import { takesMessages } from '../../views/session-state.ts'
import { ensureDaemon } from '../daemon/ensure-daemon.ts'
import { INTERRUPTED } from '../terminal/interrupts.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { refuseUnsupervisedOptions } from '../run/agent-options.ts'
import { checkCheckpointOptions } from '../run/supervision-options.ts'
import { printDockerNotice } from '../run/notices.ts'
import { printAutonomyNoticeOnce } from '../run/notices.ts'
import { printDroppedVariables } from '../run/notices.ts'
import { readPrompt } from '../args/read-text.ts'
import { resolveDirectory, buildRunRequest } from '../run/run-request.ts'
import { ttyPath } from '../terminal/tty.ts'
import { deferInterrupt } from '../terminal/interrupts.ts'
import { noticeWhenSlow } from '../terminal/screen.ts'
import { toJson } from '../terminal/format.ts'
import type { Screen } from '../terminal/screen.ts'
import { refuseFollowWithJson } from '../args/validate.ts'
import type { CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'

export async function run(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { env, home, hooks, screen } = context
  const isFollowing = args.has(OPTIONS.follow)
  refuseFollowWithJson(args)
  const cwd = resolveDirectory(args)
  const config = await loadConfig({ env, cwd, overrides: args.values(OPTIONS.config) })
  const prompt = await readPrompt(args, context)
  const request = buildRunRequest(args, context, { config, cwd, prompt })
  const printAutonomyNotice = (): void => printAutonomyNoticeOnce(request, args, config, context)
  if (!config.resilient.value) {
    refuseUnsupervisedOptions(request)
    printAutonomyNotice()
    return await hooks.runDirect(request)
  }
  await checkCheckpointOptions(request, args, context)
  printDockerNotice(request, args, context)
  const client = await ensureDaemon(home)
  const tty = ttyPath(env)
  const fullRequest = { ...request, umask: process.umask(), ...(tty !== undefined && { tty }) }
  const { session, isInterrupted } = await deferInterrupt(() =>
    noticeWhenSlow('saving the working tree, then starting …', screen, client.run(fullRequest)),
  )
  if (isInterrupted) {
    screen.err.printLine(`${session.name} was already started; stop it with: oneshot stop ${session.name}`)
    return INTERRUPTED
  }
  printAutonomyNotice()
  if (!args.has(OPTIONS.json)) printDroppedVariables(request.env, context)
  if (!isFollowing) return printSession(session, args, screen)
  if (!screen.isQuiet) screen.err.printLine(`${session.name}  (Ctrl-C leaves it running)`)
  const log = { raw: false, colour: screen.out.isColoured }
  const { followSession } = await import('../session/follow-session.ts') // This module loads SQLite, which `run` does not need.
  return await followSession(context, session, { log, passStatus: true })
}

function printSession(session: SessionView, args: ParsedArgs, { out, isQuiet }: Screen): number {
  if (args.has(OPTIONS.json)) out.printLine(toJson(session))
  else if (isQuiet || !out.isTerminal) out.printLine(session.name)
  else for (const text of describeSession(session, out.paint)) out.printLine(text)
  return 0
}

function describeSession(session: SessionView, paint: Screen['out']['paint']): string[] {
  const { name, task, title } = session
  return [
    `${paint.bold(name)}  ${toOneLine(title)}`,
    `  ${paint.dim('task'.padEnd(7))} ${task}`,
    `  ${paint.dim('follow'.padEnd(7))} oneshot follow ${name}`,
    `  ${paint.dim('attach'.padEnd(7))} oneshot attach ${name}`,
    ...(takesMessages(session) ? [`  ${paint.dim('send'.padEnd(7))} oneshot send ${name} "…"`] : []),
    `  ${paint.dim('stop'.padEnd(7))} oneshot stop ${name}`,
  ]
}
