import type { Argument } from './command-definition.ts'
import type { ParsedArgs } from './parsed-args.ts'
import { invalidArgument, missingArgument, unexpectedArgument } from './errors.ts'
import { refusal } from '../../api/contract/problems.ts'
import { OPTIONS } from './options.ts'

/**
 * Refuses arguments that the command does not take. The parser does not check this, so that `--help` works on a
 * half-typed line.
 */
export function checkPositionals(args: ParsedArgs): void {
  const { command, positionals } = args
  positionals.forEach((word, index) => {
    const argument = argumentAt(command.arguments, index)
    if (argument === undefined) throw unexpectedArgument(command, word)
    if (argument.valueType.read(word) === undefined) throw invalidArgument(command, argument, word)
  })
  const missing = command.arguments.slice(positionals.length).find(argument => argument.isRequired)
  if (missing !== undefined) throw missingArgument(command, missing)
}

/** Returns the definition of the argument at this position; the last one may take many words. */
export function argumentAt(definitions: readonly Argument[], index: number): Argument | undefined {
  const last = definitions.at(-1)
  return definitions[index] ?? (last?.isRepeated ? last : undefined)
}

/** Refuses a line that asks for two kinds of output on stdout. */
export function refuseFollowWithJson(args: ParsedArgs): void {
  if (!args.has(OPTIONS.follow) || !args.has(OPTIONS.json)) return
  throw refusal(
    'usage',
    '--follow prints what the work writes, --json an object',
    'use oneshot wait NAME --json after it',
  )
}
