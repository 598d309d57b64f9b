import { locateHome } from '../state/home.ts'
import { COMMAND_INDEX } from './command-index.ts'
import type { CliHooks, Command, CommandContext } from './context.ts'
import { checkPositionals } from './args/validate.ts'
import type { ParsedArgs } from './args/parsed-args.ts'
import { parseArgs, selectCommand } from './args/parse.ts'
import { setProcessTitle } from './args/raw-arguments.ts'
import { openScreen } from './terminal/screen.ts'
import { printError } from './terminal/print-error.ts'
import { OPTIONS } from './args/options.ts'
import { VERSION } from '../lib/version.ts'

/** Runs one command line and leaves its result in `process.exitCode`. It never throws and never exits early. */
export async function runCli(argv: readonly string[], hooks: CliHooks): Promise<void> {
  const { command, args, cause } = await tryParse(argv)
  setProcessTitle(argv, command === undefined ? 'oneshot' : `oneshot ${command.name}`)
  const screen = openScreen(args, process.env)
  try {
    if (args === undefined) throw cause
    setExitCode(await runCommand(command, args, { argv, hooks, screen, commands: COMMAND_INDEX }))
  } catch (problem) {
    const json = args === undefined ? asksForJson(argv) : args.has(OPTIONS.json)
    setExitCode(printError(problem, screen, { json, debug: isEnabled(process.env.ONESHOT_DEBUG) }))
  }
}

async function runCommand(
  command: Command,
  args: ParsedArgs,
  invocation: Omit<CommandContext, 'env' | 'home'>,
): Promise<number> {
  const { env } = process
  const { screen, commands } = invocation
  const { out } = screen
  if (args.has(OPTIONS.version)) {
    out.printLine(VERSION)
    return 0
  }
  if (args.has(OPTIONS.help)) {
    const { renderHelp, renderOverview } = await import('./help/command-help.ts')
    const { wrapHelp } = await import('./help/layout.ts')
    const text = isHelpOverview(args) ? await renderOverview(commands, out.paint) : renderHelp(command, out.paint)
    out.printLine(wrapHelp(text, out.width))
    return 0
  }
  checkPositionals(args)
  if (args.has(OPTIONS.config)) {
    const { readOverrides } = await import('../api/config/parse-sources.ts')
    readOverrides(args.values(OPTIONS.config))
  }
  return await command.run(args, { ...invocation, env, home: locateHome(env) })
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

/** A failed write to stdout has already set its code, which takes precedence. */
function setExitCode(code: number): void {
  process.exitCode ??= code
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
