import { KEY_NAMES, KEYS } from '../../api/config/keys.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { isLoop, isResumable, takesMessages } from '../../views/describe-session.ts'
import { isLive, sortByRelevance } from '../session/find-session.ts'
import { argumentAt } from './check-positionals.ts'
import { type CommandDefinition, type CommandHeader, findCommand, isFlag, type Option } from './command-definition.ts'
import type { CompletionSource, ValueType } from './value-types.ts'
import { GLOBAL_OPTIONS } from './options.ts'
import { TOPICS } from '../help/topics.ts'
import type { CommandEntry } from '../context.ts'

/** These words ask the shell for its own suggestions instead of ours. */
const SHELL_COMPLETIONS = { files: ':files', folders: ':folders', commands: ':commands' } as const

/**
 * Returns suggestions for the last word, as `value<TAB>description` lines. A line that begins with a colon asks the
 * shell to suggest files, folders or commands instead.
 */
export async function completionCandidates(words: readonly string[], known: CompletionFacts): Promise<string[]> {
  const typed = words.at(-1) ?? ''
  const before = await parseTypedWords(words.slice(0, -1), known.commands)
  const candidatesFor = (kind: ValueType<unknown>): string[] =>
    valueCandidates(kind, known, typed.slice(typed.indexOf('=') + 1))
  if (before.pendingOption !== undefined) return filterByPrefix(typed, candidatesFor(before.pendingOption.valueType))
  if (before.afterDashes > 0) return [before.afterDashes === 1 ? SHELL_COMPLETIONS.commands : SHELL_COMPLETIONS.files]
  const options = [...(before.command?.options ?? []), ...GLOBAL_OPTIONS]
  if (typed.startsWith('--') && typed.includes('=')) return inlineValueCandidates(typed, options, candidatesFor)
  if (typed.startsWith('-'))
    return filterByPrefix(
      typed,
      options.map(option => candidate(`--${option.name}`, option.summary)),
    )
  if (before.command === undefined) return filterByPrefix(typed, commandCandidates(known.commands))
  const argument = argumentAt(before.command.arguments, before.arguments)
  return argument === undefined ? [] : filterByPrefix(typed, candidatesFor(argument.valueType))
}

/** The facts that suggestions need; `sessions` reads on demand those whose names begin with the typed word. */
export interface CompletionFacts {
  readonly commands: readonly CommandEntry[]
  readonly sessions: (typed: string) => readonly SessionView[]
  /** The configured channels, as `name<TAB>type`. */
  readonly channels: readonly string[]
}

interface TypedArgs {
  readonly command: CommandDefinition | undefined
  readonly arguments: number
  /** The option whose value comes next. */
  readonly pendingOption: Option<unknown> | undefined
  /** The position of the next word in the command after `--`; 0 before it. */
  readonly afterDashes: number
}

/** A half-typed line is often not yet valid, so this accepts lines that the parser refuses. */
async function parseTypedWords(words: readonly string[], commands: readonly CommandEntry[]): Promise<TypedArgs> {
  let command: CommandDefinition | undefined
  let count = 0
  let pendingOption: Option<unknown> | undefined
  for (const [at, word] of words.entries()) {
    if (pendingOption !== undefined) pendingOption = undefined
    else if (word === '--' && command?.rest !== undefined) {
      return { command, arguments: count, pendingOption, afterDashes: words.length - at }
    } else if (word.startsWith('-') && word !== '-') pendingOption = optionAwaitingValue(word, command)
    else if (command === undefined) command = await findCommand(commands, word)?.load()
    else count++
  }
  return { command, arguments: count, pendingOption, afterDashes: 0 }
}

function optionAwaitingValue(word: string, command: CommandDefinition | undefined): Option<unknown> | undefined {
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

function valueCandidates(kind: ValueType<unknown>, known: CompletionFacts, typed: string): string[] {
  if (kind.choices !== undefined) return [...kind.choices]
  const fromSource = kind.completion === undefined ? [] : CANDIDATE_SOURCES[kind.completion](known, typed)
  return [...(kind.suggestions ?? []), ...fromSource]
}

const CANDIDATE_SOURCES: {
  readonly [C in CompletionSource]: (known: CompletionFacts, typed: string) => readonly string[]
} = {
  sessions: ({ sessions }, typed) => sessionCandidates(sessions(typed)),
  live: ({ sessions }, typed) => sessionCandidates(sessions(typed).filter(isLive)),
  ended: ({ sessions }, typed) => sessionCandidates(sessions(typed).filter(session => !isLive(session))),
  agents: ({ sessions }, typed) => sessionCandidates(sessions(typed).filter(takesMessages)),
  loops: ({ sessions }, typed) => sessionCandidates(sessions(typed).filter(isLoop)),
  'loops-or-files': ({ sessions }, typed) => [
    ...sessionCandidates(sessions(typed).filter(isLoop)),
    SHELL_COMPLETIONS.files,
  ],
  channels: ({ channels }) => channels,
  resumable: ({ sessions }, typed) => sessionCandidates(sessions(typed).filter(isResumable)),
  files: () => [SHELL_COMPLETIONS.files],
  folders: () => [SHELL_COMPLETIONS.folders],
  'config-keys': () => KEY_NAMES.map(key => candidate(key, KEYS[key].summary)),
  topics: ({ commands }) => [
    ...commandCandidates(commands),
    ...TOPICS.map(({ name, summary }) => candidate(name, summary)),
  ],
}

function sessionCandidates(sessions: readonly SessionView[]): string[] {
  const candidates = sortByRelevance(sessions).map(session => candidate(session.name, toOneLine(session.title)))
  return [...new Set(candidates)]
}

function commandCandidates(commands: readonly CommandHeader[]): string[] {
  return commands.filter(({ group }) => group !== null).map(({ name, summary }) => candidate(name, summary))
}

function candidate(value: string, description: string): string {
  return `${value}\t${description}`
}

function filterByPrefix(typed: string, candidates: readonly string[]): string[] {
  return candidates.filter(line => line.startsWith(':') || line.startsWith(typed))
}
