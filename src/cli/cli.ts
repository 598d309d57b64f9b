import { locateHome } from '../world/os/home.ts'
import { DEEDS } from './deeds.ts'
import type { CliHooks } from './hooks.ts'
import { checkWords } from './line/check-words.ts'
import type { Line } from './line/line.ts'
import { parse } from './line/parse.ts'
import { hideArguments } from './run/raw-arguments.ts'
import { openScreen, type Screen } from './screen/screen.ts'
import { tell } from './screen/tell.ts'
import { OPTIONS } from './table/options.ts'
import { VERSION } from '../lib/version.ts'

/** Carries out one command line and leaves its result in `process.exitCode`. It never throws and never exits early. */
export async function cli(argv: readonly string[], hooks: CliHooks): Promise<void> {
  const { line, cause } = understand(argv)
  hideArguments(argv, line === undefined ? 'oneshot' : `oneshot ${line.command.name}`)
  const screen = openScreen(line, process.env)
  try {
    if (line === undefined) throw cause
    finish(await obey(line, { argv, hooks, screen }))
  } catch (problem) {
    const json = line === undefined ? asksForJson(argv) : line.has(OPTIONS.json)
    finish(tell(problem, screen, { json, debug: isOn(process.env.ONESHOT_DEBUG) }))
  }
}

async function obey(line: Line, given: { argv: readonly string[]; hooks: CliHooks; screen: Screen }): Promise<number> {
  const { env } = process
  const { screen } = given
  if (line.has(OPTIONS.version)) {
    screen.out.say(VERSION)
    return 0
  }
  if (line.has(OPTIONS.help)) {
    const { helpOn } = await import('./help/help-on.ts')
    const { fitTo } = await import('./help/fit.ts')
    screen.out.say(fitTo(helpOn(isOverview(line) ? null : line.command, screen.out.paint), screen.out.width))
    return 0
  }
  checkWords(line)
  if (line.has(OPTIONS.config)) {
    const { readOverrides } = await import('../api/config/sources.ts')
    readOverrides(line.values(OPTIONS.config))
  }
  const deed = await DEEDS[line.command.name]()
  return await deed(line, { ...given, env, home: locateHome(env) })
}

function understand(argv: readonly string[]): { line?: Line; cause?: unknown } {
  try {
    return { line: parse(argv) }
  } catch (cause) {
    return { cause }
  }
}

/** A failed write to stdout has left its code already, and it counts more. */
function finish(code: number): void {
  process.exitCode ??= code
}

/** A bare `oneshot --help` was read as the help command. */
function isOverview(line: Line): boolean {
  return line.command.name === 'help' && line.words.length === 0
}

/** The line was not understood, but a program still reads the answer. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return argv.slice(0, end < 0 ? argv.length : end).includes('--json')
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false'
}
