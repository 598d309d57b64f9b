import { refusal } from '../../api/contract/problems.ts'
import { didYouMean } from '../../lib/text/did-you-mean.ts'
import { wrapHelp } from '../help/layout.ts'
import { renderHelp, renderOverview } from '../help/command-help.ts'
import { TOPICS } from '../help/topics.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import type { Command, CommandContext } from '../context.ts'
import { commandNames, findCommand } from '../args/command-definition.ts'
import { textType } from '../args/value-types.ts'

export const command: Command = {
  name: 'help',
  group: 'Set-up',
  order: 50,
  summary: 'show help on a command or a topic',
  arguments: [{ valueType: textType('TOPIC', 'topics'), summary: 'a command, exit-codes, environment or config' }],
  options: [],
  examples: [
    { argv: ['help', 'run'], description: 'a command' },
    { argv: ['help', 'exit-codes'], description: 'a topic' },
  ],
  run: help,
}

async function help(args: ParsedArgs, { screen, commands }: CommandContext): Promise<number> {
  const { out } = screen
  const [word] = args.positionals
  if (word === undefined) {
    out.printLine(wrapHelp(renderOverview(commands, out.paint), out.width))
    return 0
  }
  const topic = TOPICS.find(({ name }) => name === word)
  const found = await findCommand(commands, word)?.load()
  // `config` is a command and a topic; help shows both.
  if (found !== undefined) out.printLine(wrapHelp(renderHelp(found, out.paint), out.width))
  if (topic !== undefined)
    out.printLine(`${found === undefined ? '' : '\n'}${wrapHelp(topic.render(out.paint), out.width)}`)
  if (found === undefined && topic === undefined) throw unknownTopic(word, commandNames(commands))
  return 0
}

function unknownTopic(word: string, names: readonly string[]): Error {
  const suggestion = didYouMean(word, [...names, ...TOPICS.map(({ name }) => name)])
  const hint =
    suggestion === undefined ? 'oneshot help lists commands and topics' : `did you mean: oneshot help ${suggestion}?`
  return refusal('usage', `there is no help on ${JSON.stringify(word)}`, hint)
}
