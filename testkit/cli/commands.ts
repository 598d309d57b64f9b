import { findCommand } from '../../src/cli/args/command-definition.ts'
import { parseArgs, selectCommand } from '../../src/cli/args/parse.ts'
import type { ParsedArgs } from '../../src/cli/args/parsed-args.ts'
import { COMMAND_INDEX } from '../../src/cli/command-index.ts'
import type { Command } from '../../src/cli/context.ts'

/** Every command with its definition and code, in the order of help. */
export const COMMANDS: readonly Command[] = await Promise.all(COMMAND_INDEX.map(entry => entry.load()))

/** Parses a command line as the program does. */
export function parseLine(argv: readonly string[]): ParsedArgs {
  return parseArgs(argv, selectCommand(argv, COMMANDS))
}

export function commandNamed(name: string): Command {
  const command = findCommand(COMMANDS, name)
  if (command === undefined) throw new Error(`there is no command ${name}`)
  return command
}
