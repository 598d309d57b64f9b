import { loadConfig } from '../../api/config/load-config.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { takesMessages } from '../../views/describe-session.ts'
import { ensureDaemon } from '../daemon/start-and-stop-daemon.ts'
import { INTERRUPTED } from '../terminal/interrupts.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { checkCheckpointOptions } from '../run/supervision-options.ts'
import { printDockerNotice } from '../run/warnings-before-run.ts'
import { printAutonomyNoticeOnce } from '../run/warnings-before-run.ts'
import { printDroppedVariables } from '../run/warnings-before-run.ts'
import { readPrompt } from '../args/read-prompt-or-message.ts'
import { resolveDirectory, buildRunRequest, refuseUnsupervisedOptions } from '../run/run-request.ts'
import { deferInterrupt } from '../terminal/interrupts.ts'
import { noticeWhenSlow } from '../terminal/command-streams.ts'
import { toJson } from '../terminal/format.ts'
import type { Screen } from '../terminal/command-streams.ts'
import { refuseFollowWithJson } from '../args/check-positionals.ts'
import { bellTerminal, type Command, type CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { RUN_OPTION_LIST } from '../args/run-options.ts'
import { textType } from '../args/value-types.ts'

export const command: Command = {
  name: 'run',
  group: 'Work',
  order: 10,
  summary: 'start work that outlives this terminal',
  about: `With a prompt, an agent works on it, and arguments after -- go to the agent unchanged.
Without a prompt, -- is followed by the command to run.

The agent is the one named by --agent, else by ONESHOT_AGENT or a config file,
else the first one found on PATH. A prompt never passes through a shell.

An agent works without asking: it may change any file and run any command. With
--autonomy edits it may change files, with --autonomy ask it may only look. Budgets and
turns count over all attempts of the session.

An agent that dies is restarted in its own conversation: at once, then after 2 s,
doubling to 64 s; after ten restarts in ten minutes it gives up. One that shows no sign
of life (no output, no CPU in any of its processes, no open tool call) counts as dead. A
command is started again only with --restart on-failure. The pauses are config keys
(oneshot help config), and -c restart-window=1h sets one for this session.

In a git repository oneshot saves the working tree at the start, after edits, every five
minutes and at the end, without touching your branch or index: see oneshot checkpoints.

The command of --on-exit runs whenever the session has ended, whatever the outcome. Its
environment (ONESHOT_OUTCOME and others) and, as JSON, its stdin describe the session.

run returns at once. Piped, it prints only the session's name.`,
  arguments: [{ valueType: textType('PROMPT'), summary: 'the task for the agent; - reads it from stdin' }],
  rest: { placeholder: 'ARGV...', summary: 'a command, or after a prompt the agent’s own arguments' },
  options: [
    OPTIONS.agent,
    OPTIONS.name,
    OPTIONS.cwd,
    OPTIONS.promptFile,
    OPTIONS.tty,
    OPTIONS.headless,
    OPTIONS.env,
    ...RUN_OPTION_LIST,
    OPTIONS.follow,
    OPTIONS.json,
  ],
  examples: [
    { argv: ['run', 'fix the flaky login test'], description: 'give a prompt to your agent' },
    { argv: ['run', '--', 'pytest', 'tests/', '-v'], description: 'run any command' },
    {
      argv: ['run', '--agent', 'codex', '--name', 'fix-auth', '--prompt-file', 'task.md'],
      description: 'choose agent and name',
    },
    {
      argv: ['run', '--autonomy', 'edits', '--budget-usd', '5', 'tidy the docs'],
      description: 'files only, and for five dollars at most',
    },
    {
      argv: ['run', '--restart', 'on-failure', '--max-restarts', '3', '--', './deploy.sh'],
      description: 'try a command again when it fails, three times at most',
    },
    { argv: ['run', 'tidy the docs', '--', '--add-dir', '../api'], description: 'pass arguments to the agent' },
    { argv: ['run', '--on-exit', 'make deploy', 'fix the build'], description: 'run something when it has ended' },
    { argv: ['run', '-'], shell: '< task.md', description: 'read the prompt from stdin' },
    { argv: ['run', '--agent', 'demo', 'show me'], description: 'try it without an account' },
  ],
  excessHint: 'quote a prompt: oneshot run "fix the bug"; put a command after --: oneshot run -- pytest tests/',
  run: run,
}

async function run(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { env, home, hooks, screen } = context
  const isFollowing = args.has(OPTIONS.follow)
  refuseFollowWithJson(args)
  const cwd = resolveDirectory(args, context)
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
  const client = await ensureDaemon({ home, env })
  const tty = bellTerminal(context)
  const fullRequest = { ...request, umask: context.host.umask(), ...(tty !== undefined && { tty }) }
  const { session, isInterrupted } = await deferInterrupt(screen, () =>
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
