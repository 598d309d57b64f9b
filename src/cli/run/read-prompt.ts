import { refusal } from '../../api/contract/problems.ts'
import type { Line } from '../line/line.ts'
import { isBlank, nameOf, readText } from '../read-text.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'
import { bytesOfArgument } from './raw-arguments.ts'

/** The prompt as bytes, from wherever it was given; undefined when there is none. */
export async function readPrompt(
  line: Line,
  { argv, screen }: Surroundings,
  example = 'oneshot run "fix the bug"',
): Promise<Buffer | undefined> {
  const file = line.value(OPTIONS.promptFile)
  const [word] = line.words
  if (file !== undefined && word !== undefined) {
    throw refusal('usage', 'there are two prompts: an argument and --prompt-file', 'give one of them')
  }
  const source = file ?? (word === '-' ? '-' : undefined)
  if (source === undefined && word === undefined) return undefined
  const bytes =
    source === undefined
      ? bytesOfArgument(argv, line.places[0] as number)
      : await readText(source, { what: 'prompt', option: 'prompt-file' }, screen)
  if (!isBlank(bytes)) return bytes
  throw refusal(
    'prompt-empty',
    `the prompt${source === undefined ? '' : ` from ${nameOf(source)}`} is empty`,
    `say what is to be done: ${example}`,
  )
}
