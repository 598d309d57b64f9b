import type { Argument } from '../table/command.ts'
import type { Line } from './line.ts'
import { excessWord, missingWord, unreadableWord } from './mistakes.ts'

/** Refuses arguments the command does not take. Apart from parsing, so that `--help` works on a half-typed line. */
export function checkWords(line: Line): void {
  const { command, words } = line
  words.forEach((word, at) => {
    const argument = argumentAt(command.arguments, at)
    if (argument === undefined) throw excessWord(command, word)
    if (argument.kind.read(word) === undefined) throw unreadableWord(command, argument, word)
  })
  const missing = command.arguments.slice(words.length).find(argument => argument.isRequired)
  if (missing !== undefined) throw missingWord(command, missing)
}

/** The argument a word at this place fills; the last one may take many. */
export function argumentAt(known: readonly Argument[], at: number): Argument | undefined {
  const last = known.at(-1)
  return known[at] ?? (last?.isRepeated ? last : undefined)
}
