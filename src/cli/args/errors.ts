import { refusal } from '../../api/contract/problems.ts'
import { didYouMean } from '../../lib/text/did-you-mean.ts'
import type { Refusal } from '../../lib/errors.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import type { Argument, CommandDefinition, Option } from './command-definition.ts'

/** Names that other programs use for our commands. */
const SYNONYMS: Readonly<Record<string, string>> = {
  top: 'list --watch',
  remove: 'clean',
  delete: 'clean',
  prune: 'clean',
  pause: 'hold',
  continue: 'resume',
  start: 'run',
  exec: 'run',
  tail: 'follow',
  show: 'status',
  inspect: 'status',
  info: 'status',
  history: 'events',
  cat: 'log',
  output: 'log',
  cancel: 'stop',
  abort: 'stop',
  end: 'stop',
  enter: 'attach',
  message: 'send',
  save: 'checkpoint',
  undo: 'restore',
  revert: 'restore',
  rollback: 'restore',
  check: 'verify',
  upgrade: 'update',
  watch: 'follow',
  board: 'ralph status',
  land: 'ralph land',
  retry: 'ralph retry',
}

export function unknownCommand(word: string, names: readonly string[]): Refusal {
  const suggestion = (Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word] : undefined) ?? didYouMean(word, names)
  const hint =
    suggestion === undefined
      ? 'oneshot help lists all commands; oneshot run "..." gives a prompt to an agent'
      : `did you mean: oneshot ${suggestion}?`
  return refusal('usage', `there is no command ${quoteShort(word)}`, hint)
}

export function unknownOption(
  word: string,
  command: CommandDefinition | null,
  known: readonly Option<unknown>[],
): Refusal {
  const name = word.split('=', 1)[0] as string
  const suggestion = didYouMean(
    name,
    known.map(option => `--${option.name}`),
  )
  const help = command === null ? 'oneshot --help' : `oneshot ${command.name} --help`
  const where = command === null ? 'before a command' : `for ${command.name}`
  const hint =
    suggestion === undefined || !name.startsWith('--') ? `see ${help}` : `did you mean ${suggestion}? see ${help}`
  return refusal('usage', `there is no option ${quoteShort(name)} ${where}`, hint)
}

export function missingValue(option: Option<unknown>, next: string | undefined): Refusal {
  const { valueType } = option
  const isValue = next !== undefined && (valueType.accepts ?? hasValue)(next)
  const example = isValue ? `--${option.name}=${next}` : `--${option.name} ${valueType.placeholder}`
  function hasValue(text: string): boolean {
    return valueType.read(text) !== undefined
  }
  return refusal('usage', `--${option.name} needs a value: ${valueType.allowed}`, `write ${example}`)
}

export function unexpectedValue(option: Option<unknown>): Refusal {
  return refusal('usage', `--${option.name} takes no value`, `write --${option.name}`)
}

export function invalidValue(option: Option<unknown>, text: string): Refusal {
  const { valueType } = option
  const suggestion = didYouMean(text, valueType.choices ?? [])
  const hint = suggestion === undefined ? undefined : `did you mean --${option.name} ${suggestion}?`
  return refusal('usage', `--${option.name} cannot be ${quoteShort(text)}: it must be ${valueType.allowed}`, hint)
}

export function unexpectedArgument(command: CommandDefinition, word: string): Refusal {
  const hint = command.excessHint ?? `see oneshot ${command.name} --help`
  return refusal('usage', `${command.name} does not take the argument ${quoteShort(word)}`, hint)
}

export function missingArgument(command: CommandDefinition, argument: Argument): Refusal {
  const { valueType } = argument
  const allowed = valueType.choices === undefined ? '' : `: ${valueType.allowed}`
  return refusal(
    'usage',
    `${command.name} needs ${valueType.placeholder}${allowed}`,
    `see oneshot ${command.name} --help`,
  )
}

export function invalidArgument(command: CommandDefinition, argument: Argument, word: string): Refusal {
  const suggestion = didYouMean(word, argument.valueType.choices ?? [])
  const hint =
    suggestion === undefined
      ? `see oneshot ${command.name} --help`
      : `did you mean: oneshot ${command.name} ${suggestion}?`
  const { placeholder, allowed } = argument.valueType
  return refusal(
    'usage',
    `${command.name} cannot take ${quoteShort(word)} as ${placeholder}: it must be ${allowed}`,
    hint,
  )
}

/** Quotes the typed text, short enough for a sentence. */
function quoteShort(text: string): string {
  const line = toOneLine(text)
  return JSON.stringify(line.length > 60 ? `${line.slice(0, 59)}…` : line)
}
