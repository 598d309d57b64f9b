import { KEY_NAMES, KEYS } from '../../api/config/keys.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { isLoop, isResumable, takesMessages } from '../../views/way-on.ts'
import { isLive, likeliestFirst } from '../find-session.ts'
import { argumentAt } from '../line/check-words.ts'
import { type Command, isFlag, type Option } from '../table/command.ts'
import { COMMANDS, commandNamed } from '../table/commands.ts'
import { TASK_ACTIONS } from '../table/converse.ts'
import { LOOP_ACTIONS } from '../table/loops.ts'
import type { Completes, Kind } from '../table/kinds.ts'
import { GLOBAL_OPTIONS } from '../table/options.ts'
import { TOPICS } from '../help/topics.ts'

/** Asks the shell for its own suggestions, in place of a list of ours. */
const SHELL_LISTS = { files: ':files', folders: ':folders', commands: ':commands' } as const

/**
 * Suggestions for the last of the words, as `value<TAB>description` lines. A line that begins with a colon asks
 * the shell to suggest files, folders or commands instead.
 */
export function complete(
  words: readonly string[],
  sessions: () => readonly SessionView[],
  channels: readonly string[] = [],
): string[] {
  const typed = words.at(-1) ?? ''
  const before = understand(words.slice(0, -1))
  const offers = (kind: Kind<unknown>): string[] =>
    kind.completes === 'channels' ? [...channels] : offersOf(kind, sessions)
  if (before.awaited !== undefined) return beginningWith(typed, offers(before.awaited.kind))
  if (before.afterDashes > 0) return [before.afterDashes === 1 ? SHELL_LISTS.commands : SHELL_LISTS.files]
  const known = [...(before.command?.options ?? []), ...GLOBAL_OPTIONS]
  if (typed.startsWith('--') && typed.includes('=')) return inlineValues(typed, known, offers)
  if (typed.startsWith('-'))
    return beginningWith(
      typed,
      known.map(option => offer(`--${option.name}`, option.summary)),
    )
  if (before.command === undefined) return beginningWith(typed, commandOffers())
  const argument = argumentAt(before.command.arguments, before.arguments)
  return argument === undefined ? [] : beginningWith(typed, offers(argument.kind))
}

interface Understood {
  readonly command: Command | undefined
  readonly arguments: number
  /** The option whose value comes next. */
  readonly awaited: Option<unknown> | undefined
  /** How many words into a command after `--` the next one is; 0 before it. */
  readonly afterDashes: number
}

/** A line being typed is often not yet valid, so this forgives what the parser refuses. */
function understand(words: readonly string[]): Understood {
  let command: Command | undefined
  let count = 0
  let awaited: Option<unknown> | undefined
  for (const [at, word] of words.entries()) {
    if (awaited !== undefined) awaited = undefined
    else if (word === '--' && command?.rest !== undefined) {
      return { command, arguments: count, awaited, afterDashes: words.length - at }
    } else if (word.startsWith('-') && word !== '-') awaited = awaiting(word, command)
    else if (command === undefined) command = commandNamed(word)
    else count++
  }
  return { command, arguments: count, awaited, afterDashes: 0 }
}

function awaiting(word: string, command: Command | undefined): Option<unknown> | undefined {
  const known = [...(command?.options ?? []), ...GLOBAL_OPTIONS]
  const option = known.find(({ name, short }) => word === `--${name}` || (short !== undefined && word === `-${short}`))
  return option === undefined || isFlag(option) || option.kind.alone !== undefined ? undefined : option
}

function inlineValues(
  typed: string,
  known: readonly Option<unknown>[],
  offers: (kind: Kind<unknown>) => string[],
): string[] {
  const equals = typed.indexOf('=')
  const option = known.find(({ name }) => `--${name}` === typed.slice(0, equals))
  if (option === undefined) return []
  const values = offers(option.kind)
  const isOurs = !values.some(value => value.startsWith(':'))
  return isOurs
    ? beginningWith(
        typed,
        values.map(value => `--${option.name}=${value}`),
      )
    : values
}

function offersOf(kind: Kind<unknown>, sessions: () => readonly SessionView[]): string[] {
  if (kind.choices !== undefined) return [...kind.choices]
  return kind.completes === undefined || kind.completes === 'channels' ? [] : SOURCES[kind.completes](sessions)
}

const SOURCES: {
  readonly [C in Exclude<Completes, 'channels'>]: (sessions: () => readonly SessionView[]) => string[]
} = {
  sessions: sessions => sessionOffers(sessions()),
  live: sessions => sessionOffers(sessions().filter(isLive)),
  ended: sessions => sessionOffers(sessions().filter(session => !isLive(session))),
  agents: sessions => sessionOffers(sessions().filter(takesMessages)),
  'task-words': sessions => [...TASK_ACTIONS, ...sessionOffers(sessions())],
  'loop-words': sessions => [...LOOP_ACTIONS, ...sessionOffers(sessions().filter(isLoop)), SHELL_LISTS.files],
  loops: sessions => sessionOffers(sessions().filter(isLoop)),
  resumable: sessions => sessionOffers(sessions().filter(isResumable)),
  files: () => [SHELL_LISTS.files],
  folders: () => [SHELL_LISTS.folders],
  'config-keys': () => KEY_NAMES.map(key => offer(key, KEYS[key].summary)),
  topics: () => [...commandOffers(), ...TOPICS.map(({ name, summary }) => offer(name, summary))],
}

function sessionOffers(sessions: readonly SessionView[]): string[] {
  const offers = likeliestFirst(sessions).map(session => offer(session.name, oneLine(session.title)))
  return [...new Set(offers)]
}

function commandOffers(): string[] {
  return COMMANDS.filter(({ group }) => group !== null).map(({ name, summary }) => offer(name, summary))
}

function offer(value: string, description: string): string {
  return `${value}\t${description}`
}

function beginningWith(typed: string, offers: readonly string[]): string[] {
  return offers.filter(line => line.startsWith(':') || line.startsWith(typed))
}
