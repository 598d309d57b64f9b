import { refusal } from '../../api/contract/problems.ts'
import { nearest } from '../../lib/nearest.ts'
import type { Refusal } from '../../lib/refusal.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import type { Argument, Command, Option } from '../table/command.ts'
import { commandWords } from '../table/commands.ts'

/** Words of other programs for what is called differently here. */
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

export function unknownCommand(word: string): Refusal {
  const meant = (Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word] : undefined) ?? nearest(word, commandWords())
  const hint =
    meant === undefined
      ? 'oneshot help lists all commands; oneshot run "..." gives a prompt to an agent'
      : `did you mean: oneshot ${meant}?`
  return refusal('usage', `there is no command ${show(word)}`, hint)
}

export function unknownOption(word: string, command: Command | null, known: readonly Option<unknown>[]): Refusal {
  const name = word.split('=', 1)[0] as string
  const meant = nearest(
    name,
    known.map(option => `--${option.name}`),
  )
  const help = command === null ? 'oneshot --help' : `oneshot ${command.name} --help`
  const where = command === null ? 'before a command' : `for ${command.name}`
  const hint = meant === undefined || !name.startsWith('--') ? `see ${help}` : `did you mean ${meant}? see ${help}`
  return refusal('usage', `there is no option ${show(name)} ${where}`, hint)
}

export function missingValue(option: Option<unknown>, next: string | undefined): Refusal {
  const { kind } = option
  const example = next === undefined ? `--${option.name} ${kind.placeholder}` : `--${option.name}=${next}`
  return refusal('usage', `--${option.name} needs a value: ${kind.allowed}`, `write ${example}`)
}

export function spareValue(option: Option<unknown>): Refusal {
  return refusal('usage', `--${option.name} takes no value`, `write --${option.name}`)
}

export function unreadableValue(option: Option<unknown>, text: string): Refusal {
  const { kind } = option
  const meant = nearest(text, kind.choices ?? [])
  const hint = meant === undefined ? undefined : `did you mean --${option.name} ${meant}?`
  return refusal('usage', `--${option.name} cannot be ${show(text)}: it must be ${kind.allowed}`, hint)
}

export function excessWord(command: Command, word: string): Refusal {
  const hint = command.excessHint ?? `see oneshot ${command.name} --help`
  return refusal('usage', `${command.name} does not take the argument ${show(word)}`, hint)
}

export function missingWord(command: Command, argument: Argument): Refusal {
  const { kind } = argument
  const allowed = kind.choices === undefined ? '' : `: ${kind.allowed}`
  return refusal('usage', `${command.name} needs ${kind.placeholder}${allowed}`, `see oneshot ${command.name} --help`)
}

export function unreadableWord(command: Command, argument: Argument, word: string): Refusal {
  const meant = nearest(word, argument.kind.choices ?? [])
  const hint =
    meant === undefined ? `see oneshot ${command.name} --help` : `did you mean: oneshot ${command.name} ${meant}?`
  const { placeholder, allowed } = argument.kind
  return refusal('usage', `${command.name} cannot take ${show(word)} as ${placeholder}: it must be ${allowed}`, hint)
}

/** What was typed, short enough for a sentence. */
function show(text: string): string {
  const line = oneLine(text)
  return JSON.stringify(line.length > 60 ? `${line.slice(0, 59)}…` : line)
}
