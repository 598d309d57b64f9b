import { locateHome } from '../state/home.ts'
import { COMMAND_LOADERS } from './command-loaders.ts'
import type { CliHooks } from './context.ts'
import { checkPositionals } from './args/validate.ts'
import type { ParsedArgs } from './args/parsed-args.ts'
import { parseArgs } from './args/parse.ts'
import { setProcessTitle } from './args/raw-arguments.ts'
import { openScreen, type Screen } from './terminal/screen.ts'
import { printError } from './terminal/print-error.ts'
import { OPTIONS } from './args/options.ts'
import { VERSION } from '../lib/version.ts'

/** Runs one command line and leaves its result in `process.exitCode`. It never throws and never exits early. */
export async function runCli(argv: readonly string[], hooks: CliHooks): Promise<void> {
  const { line: args, cause } = tryParse(argv)
  setProcessTitle(argv, args === undefined ? 'oneshot' : `oneshot ${args.command.name}`)
  const screen = openScreen(args, process.env)
  try {
    if (args === undefined) throw cause
    setExitCode(await runCommand(args, { argv, hooks, screen }))
  } catch (problem) {
    const json = args === undefined ? asksForJson(argv) : args.has(OPTIONS.json)
    setExitCode(printError(problem, screen, { json, debug: isEnabled(process.env.ONESHOT_DEBUG) }))
  }
}

async function runCommand(
  args: ParsedArgs,
  invocation: { argv: readonly string[]; hooks: CliHooks; screen: Screen },
): Promise<number> {
  const { env } = process
  const { screen } = invocation
  if (args.has(OPTIONS.version)) {
    screen.out.printLine(VERSION)
    return 0
  }
  if (args.has(OPTIONS.help)) {
    const { renderHelp } = await import('./help/command-help.ts')
    const { wrapHelp } = await import('./help/layout.ts')
    screen.out.printLine(
      wrapHelp(renderHelp(isHelpOverview(args) ? null : args.command, screen.out.paint), screen.out.width),
    )
    return 0
  }
  checkPositionals(args)
  if (args.has(OPTIONS.config)) {
    const { readOverrides } = await import('../api/config/sources.ts')
    readOverrides(args.values(OPTIONS.config))
  }
  const handler = await COMMAND_LOADERS[args.command.name]()
  return await handler(args, { ...invocation, env, home: locateHome(env) })
}

function tryParse(argv: readonly string[]): { line?: ParsedArgs; cause?: unknown } {
  try {
    return { line: parseArgs(argv) }
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
