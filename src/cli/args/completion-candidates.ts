import { KEY_NAMES, KEYS } from '../../api/config/keys.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import { toOneLine } from '../../lib/text/terminal-text.ts'
import { isLoop, isResumable, takesMessages } from '../../views/session-state.ts'
import { isLive, sortByRelevance } from '../session/find-session.ts'
import { argumentAt } from './validate.ts'
import { type Command, isFlag, type Option } from './command.ts'
import { COMMANDS, findCommand } from '../definitions/commands.ts'
import { TASK_ACTIONS } from '../definitions/messages.ts'
import { LOOP_ACTIONS } from '../definitions/loops.ts'
import type { CompletionSource, ValueType } from './value-types.ts'
import { GLOBAL_OPTIONS } from './options.ts'
import { TOPICS } from '../help/topics.ts'

/** These words ask the shell for its own suggestions instead of ours. */
const SHELL_COMPLETIONS = { files: ':files', folders: ':folders', commands: ':commands' } as const

/**
 * Returns suggestions for the last word, as `value<TAB>description` lines. A line that begins with a colon asks the
 * shell to suggest files, folders or commands instead.
 */
export function completionCandidates(
  words: readonly string[],
  sessions: () => readonly SessionView[],
  channels: readonly string[] = [],
): string[] {
  const typed = words.at(-1) ?? ''
  const before = parseTypedWords(words.slice(0, -1))
  const candidatesFor = (kind: ValueType<unknown>): string[] =>
    kind.completion === 'channels' ? [...channels] : valueCandidates(kind, sessions)
  if (before.pendingOption !== undefined) return filterByPrefix(typed, candidatesFor(before.pendingOption.valueType))
  if (before.afterDashes > 0) return [before.afterDashes === 1 ? SHELL_COMPLETIONS.commands : SHELL_COMPLETIONS.files]
  const known = [...(before.command?.options ?? []), ...GLOBAL_OPTIONS]
  if (typed.startsWith('--') && typed.includes('=')) return inlineValueCandidates(typed, known, candidatesFor)
  if (typed.startsWith('-'))
    return filterByPrefix(
      typed,
      known.map(option => candidate(`--${option.name}`, option.summary)),
    )
  if (before.command === undefined) return filterByPrefix(typed, commandCandidates())
  const argument = argumentAt(before.command.arguments, before.arguments)
  return argument === undefined ? [] : filterByPrefix(typed, candidatesFor(argument.valueType))
}

interface TypedArgs {
  readonly command: Command | undefined
  readonly arguments: number
  /** The option whose value comes next. */
  readonly pendingOption: Option<unknown> | undefined
  /** The position of the next word in the command after `--`; 0 before it. */
  readonly afterDashes: number
}

/** A half-typed line is often not yet valid, so this accepts lines that the parser refuses. */
function parseTypedWords(words: readonly string[]): TypedArgs {
  let command: Command | undefined
  let count = 0
  let pendingOption: Option<unknown> | undefined
  for (const [at, word] of words.entries()) {
    if (pendingOption !== undefined) pendingOption = undefined
    else if (word === '--' && command?.rest !== undefined) {
      return { command, arguments: count, pendingOption, afterDashes: words.length - at }
    } else if (word.startsWith('-') && word !== '-') pendingOption = optionAwaitingValue(word, command)
    else if (command === undefined) command = findCommand(word)
    else count++
  }
  return { command, arguments: count, pendingOption, afterDashes: 0 }
}

function optionAwaitingValue(word: string, command: Command | undefined): Option<unknown> | undefined {
  const known = [...(command?.options ?? []), ...GLOBAL_OPTIONS]
  const option = known.find(({ name, short }) => word === `--${name}` || (short !== undefined && word === `-${short}`))
  return option === undefined || isFlag(option) || option.valueType.impliedValue !== undefined ? undefined : option
}

function inlineValueCandidates(
  typed: string,
  known: readonly Option<unknown>[],
  candidatesFor: (kind: ValueType<unknown>) => string[],
): string[] {
  const equals = typed.indexOf('=')
  const option = known.find(({ name }) => `--${name}` === typed.slice(0, equals))
  if (option === undefined) return []
  const values = candidatesFor(option.valueType)
  const isOwnList = !values.some(value => value.startsWith(':'))
  return isOwnList
    ? filterByPrefix(
        typed,
        values.map(value => `--${option.name}=${value}`),
      )
    : values
}

function valueCandidates(kind: ValueType<unknown>, sessions: () => readonly SessionView[]): string[] {
  if (kind.choices !== undefined) return [...kind.choices]
  return kind.completion === undefined || kind.completion === 'channels'
    ? []
    : CANDIDATE_SOURCES[kind.completion](sessions)
}

const CANDIDATE_SOURCES: {
  readonly [C in Exclude<CompletionSource, 'channels'>]: (sessions: () => readonly SessionView[]) => string[]
} = {
  sessions: sessions => sessionCandidates(sessions()),
  live: sessions => sessionCandidates(sessions().filter(isLive)),
  ended: sessions => sessionCandidates(sessions().filter(session => !isLive(session))),
  agents: sessions => sessionCandidates(sessions().filter(takesMessages)),
  'task-words': sessions => [...TASK_ACTIONS, ...sessionCandidates(sessions())],
  'loop-words': sessions => [...LOOP_ACTIONS, ...sessionCandidates(sessions().filter(isLoop)), SHELL_COMPLETIONS.files],
  loops: sessions => sessionCandidates(sessions().filter(isLoop)),
  resumable: sessions => sessionCandidates(sessions().filter(isResumable)),
  files: () => [SHELL_COMPLETIONS.files],
  folders: () => [SHELL_COMPLETIONS.folders],
  'config-keys': () => KEY_NAMES.map(key => candidate(key, KEYS[key].summary)),
  topics: () => [...commandCandidates(), ...TOPICS.map(({ name, summary }) => candidate(name, summary))],
}

function sessionCandidates(sessions: readonly SessionView[]): string[] {
  const candidates = sortByRelevance(sessions).map(session => candidate(session.name, toOneLine(session.title)))
  return [...new Set(candidates)]
}

function commandCandidates(): string[] {
  return COMMANDS.filter(({ group }) => group !== null).map(({ name, summary }) => candidate(name, summary))
}

function candidate(value: string, description: string): string {
  return `${value}\t${description}`
}

function filterByPrefix(typed: string, candidates: readonly string[]): string[] {
  return candidates.filter(line => line.startsWith(':') || line.startsWith(typed))
}
