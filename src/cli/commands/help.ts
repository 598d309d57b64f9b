import { refusal } from '../../api/contract/problems.ts'
import { nearest } from '../../lib/nearest.ts'
import { fitTo } from '../help/fit.ts'
import { helpOn } from '../help/help-on.ts'
import { TOPICS } from '../help/topics.ts'
import type { Line } from '../line/line.ts'
import type { Surroundings } from '../surroundings.ts'
import { commandNamed, commandWords } from '../table/commands.ts'

export async function help(line: Line, { screen }: Surroundings): Promise<number> {
  const { out } = screen
  const [word] = line.words
  const topic = TOPICS.find(({ name }) => name === word)
  const command = word === undefined ? null : commandNamed(word)
  // `config` is a command and a topic; whoever asks for help on it gets both.
  if (command !== undefined) out.say(fitTo(helpOn(command, out.paint), out.width))
  if (topic !== undefined) out.say(`${command === undefined ? '' : '\n'}${fitTo(topic.render(out.paint), out.width)}`)
  if (command === undefined && topic === undefined) throw unknownTopic(word as string)
  return 0
}

function unknownTopic(word: string): Error {
  const meant = nearest(word, [...commandWords(), ...TOPICS.map(({ name }) => name)])
  const hint = meant === undefined ? 'oneshot help lists commands and topics' : `did you mean: oneshot help ${meant}?`
  return refusal('usage', `there is no help on ${JSON.stringify(word)}`, hint)
}
