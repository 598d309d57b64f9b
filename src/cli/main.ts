import { locateHome } from '../state/home.ts'
import { COMMAND_INDEX } from './command-index.ts'
import type { CliHooks, Command, CommandContext } from './context.ts'
import type { CliHost } from './host.ts'
import { checkPositionals } from './args/check-positionals.ts'
import type { ParsedArgs } from './args/parsed-args.ts'
import { parseArgs, selectCommand } from './args/parse.ts'
import { openScreen } from './terminal/command-streams.ts'
import { printError } from './terminal/print-error.ts'
import { OPTIONS } from './args/options.ts'
import { VERSION } from '../lib/version.ts'

/** Runs one command line in this host and returns its exit code. It never throws and never exits early. */
export async function runCli(argv: readonly string[], host: CliHost, hooks: CliHooks): Promise<number> {
  const { command, args, cause } = await tryParse(argv)
  // Every user of the machine can read the command line while we run, and it may hold a prompt or a key.
  host.setTitle(command === undefined ? 'oneshot' : `oneshot ${command.name}`)
  const screen = openScreen(args, host)
  try {
    if (args === undefined) throw cause
    return await runCommand(command, args, { argv, host, hooks, screen, commands: COMMAND_INDEX })
  } catch (problem) {
    const json = args === undefined ? asksForJson(argv) : args.has(OPTIONS.json)
    return printError(problem, screen, { json, debug: isEnabled(host.env.ONESHOT_DEBUG) })
  }
}

async function runCommand(
  command: Command,
  args: ParsedArgs,
  invocation: Omit<CommandContext, 'env' | 'home'>,
): Promise<number> {
  const { screen, commands, host } = invocation
  const { env } = host
  const { out } = screen
  if (args.has(OPTIONS.version)) {
    out.printLine(VERSION)
    return 0
  }
  if (args.has(OPTIONS.help)) {
    const { renderHelp, renderOverview } = await import('./help/command-help.ts')
    const { wrapHelp } = await import('./help/layout.ts')
    const text = isHelpOverview(args) ? renderOverview(commands, out.paint) : renderHelp(command, out.paint)
    out.printLine(wrapHelp(text, out.width))
    return 0
  }
  checkPositionals(args)
  if (args.has(OPTIONS.config)) {
    const { readOverrides } = await import('../api/config/parse-sources.ts')
    readOverrides(args.values(OPTIONS.config))
  }
  return await command.run(args, { ...invocation, env, home: locateHome(env, host.cwd) })
}

type Parsed =
  | { readonly command: Command; readonly args: ParsedArgs; readonly cause?: undefined }
  | { readonly command?: undefined; readonly args?: undefined; readonly cause: unknown }

async function tryParse(argv: readonly string[]): Promise<Parsed> {
  try {
    const command = await selectCommand(argv, COMMAND_INDEX).load()
    return { command, args: parseArgs(argv, command) }
  } catch (cause) {
    return { cause }
  }
}

/** The parser reads a bare `oneshot --help` as the help command. */
function isHelpOverview(args: ParsedArgs): boolean {
  return args.command.name === 'help' && args.positionals.length === 0
}

/** The line is invalid, but a program still reads the answer. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return argv.slice(0, end < 0 ? argv.length : end).includes('--json')
}

function isEnabled(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false'
}
