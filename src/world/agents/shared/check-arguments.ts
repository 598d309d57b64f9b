import type { LaunchProblem } from '../../../ports/agent.ts'

/** The rules by which a program reads its command line. */
interface OptionSyntax {
  /** Returns the option that an argument names: `--model` of `--model=opus`, if the program reads it so. */
  readonly nameOf: (arg: string) => string
  /** Options that take no value, for programs whose unknown options take some. */
  readonly none?: ReadonlySet<string>
  /** Options that take the next argument, whatever it looks like. */
  readonly one?: ReadonlySet<string>
  /** Options that take the next argument and the words after it. */
  readonly several?: ReadonlySet<string>
  /** The number of following words that an option takes if it is in none of these sets. */
  readonly others: 'none' | 'one' | 'several'
  /** Matches an argument that no option takes as its value: one with a leading dash, unless this is set. */
  readonly noWord?: RegExp
}

/** The arguments that a user must not give to a program. */
export interface ArgumentRules extends OptionSyntax {
  /** Returns the thing to do instead of giving this option, or undefined when the option is allowed. */
  readonly remedyFor: (option: string) => string | undefined
  /** Returns the sentence about an option that has a remedy. */
  readonly problemWith: (option: string) => string
  readonly toWord: (word: string) => LaunchProblem | null
}

/** Returns the first problem with the caller's own arguments; problems with options come before those with words. */
export function checkArguments(args: readonly string[], rules: ArgumentRules): LaunchProblem | null {
  const { options, words } = splitArguments(args, rules)
  return firstProblem(options, option => checkOption(option, rules)) ?? firstProblem(words, rules.toWord)
}

function checkOption(option: string, { remedyFor, problemWith }: ArgumentRules): LaunchProblem | null {
  const remedy = remedyFor(option)
  return remedy === undefined ? null : { problem: problemWith(option), remedy }
}

/** Maps options to remedies, from lines such as `['-c --continue', 'leave it out']`. */
export function remedyMap(...entries: readonly (readonly [options: string, remedy: string])[]): Map<string, string> {
  return new Map(entries.flatMap(([options, remedy]) => options.split(' ').map(option => [option, remedy] as const)))
}

export function optionSet(...lines: readonly string[]): Set<string> {
  return new Set(lines.flatMap(line => line.split(' ')))
}

/** Returns `--sandbox` for `--sandbox=read-only`, and `-s` for `-sread-only`. */
export function optionName(arg: string): string {
  return arg.startsWith('--') ? nameBeforeEquals(arg) : arg.slice(0, 2)
}

export function nameBeforeEquals(arg: string): string {
  return arg.split('=')[0] ?? arg
}

/** A lone `-` is a word. So are `--` and all arguments after it. */
function splitArguments(args: readonly string[], syntax: OptionSyntax): { options: string[]; words: string[] } {
  const options: string[] = []
  const words: string[] = []
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? ''
    if (arg === '--') return { options, words: [...words, ...args.slice(index)] }
    if (!arg.startsWith('-') || arg === '-') {
      words.push(arg)
      continue
    }
    const option = syntax.nameOf(arg)
    options.push(option)
    if (option === arg) index += countValues(option, args.slice(index + 1), syntax)
  }
  return { options, words }
}

/** Returns the number of arguments after an option that belong to it. */
function countValues(option: string, rest: readonly string[], syntax: OptionSyntax): number {
  if (syntax.none?.has(option)) return 0
  if (syntax.one?.has(option)) return 1
  if (syntax.several?.has(option)) return 1 + countWords(rest.slice(1), syntax)
  if (syntax.others === 'none') return 0
  const words = countWords(rest, syntax)
  return syntax.others === 'one' ? Math.min(words, 1) : words
}

function countWords(rest: readonly string[], { noWord = /^-/ }: OptionSyntax): number {
  const end = rest.findIndex(arg => noWord.test(arg))
  return end < 0 ? rest.length : end
}

function firstProblem(items: readonly string[], check: (item: string) => LaunchProblem | null): LaunchProblem | null {
  for (const item of items) {
    const problem = check(item)
    if (problem !== null) return problem
  }
  return null
}
