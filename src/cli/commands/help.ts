import { refusal } from '../../api/contract/problems.ts'
import { didYouMean } from '../../lib/text/did-you-mean.ts'
import { wrapHelp } from '../help/layout.ts'
import { renderHelp } from '../help/command-help.ts'
import { TOPICS } from '../help/topics.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import type { CommandContext } from '../context.ts'
import { findCommand, commandNames } from '../definitions/commands.ts'

export async function help(args: ParsedArgs, { screen }: CommandContext): Promise<number> {
  const { out } = screen
  const [word] = args.positionals
  const topic = TOPICS.find(({ name }) => name === word)
  const command = word === undefined ? null : findCommand(word)
  // `config` is a command and a topic; help shows both.
  if (command !== undefined) out.printLine(wrapHelp(renderHelp(command, out.paint), out.width))
  if (topic !== undefined)
    out.printLine(`${command === undefined ? '' : '\n'}${wrapHelp(topic.render(out.paint), out.width)}`)
  if (command === undefined && topic === undefined) throw unknownTopic(word as string)
  return 0
}

function unknownTopic(word: string): Error {
  const suggestion = didYouMean(word, [...commandNames(), ...TOPICS.map(({ name }) => name)])
  const hint =
    suggestion === undefined ? 'oneshot help lists commands and topics' : `did you mean: oneshot help ${suggestion}?`
  return refusal('usage', `there is no help on ${JSON.stringify(word)}`, hint)
}
