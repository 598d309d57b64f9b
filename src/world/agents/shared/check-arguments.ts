import type { LaunchProblem } from '../../../ports/agent.ts'

/** How a program reads its command line. */
interface OptionSyntax {
  /** The option that an argument names: `--model` of `--model=opus`, where the program reads it so. */
  readonly nameOf: (arg: string) => string
  /** Options that take no word, for programs of which others do. */
  readonly none?: ReadonlySet<string>
  /** Options that take the next argument, whatever it looks like. */
  readonly one?: ReadonlySet<string>
  /** Options that take the next argument and the words after it. */
  readonly several?: ReadonlySet<string>
  /** What an option takes that stands in none of these, as far as words follow it. */
  readonly others: 'none' | 'one' | 'several'
  /** How an argument begins that is no word an option might take: with a dash, unless told otherwise. */
  readonly noWord?: RegExp
}

/** What a program's user must not give it. */
export interface ArgumentRules extends OptionSyntax {
  /** What to do instead of giving it this option; undefined when it may be given. */
  readonly remedyFor: (option: string) => string | undefined
  /** The sentence about an option that has a remedy. */
  readonly problemWith: (option: string) => string
  readonly toWord: (word: string) => LaunchProblem | null
}

/** The first objection to the caller's own arguments, first of all to an option. */
export function checkArguments(args: readonly string[], rules: ArgumentRules): LaunchProblem | null {
  const { options, words } = splitArguments(args, rules)
  return firstProblem(options, option => checkOption(option, rules)) ?? firstProblem(words, rules.toWord)
}

function checkOption(option: string, { remedyFor, problemWith }: ArgumentRules): LaunchProblem | null {
  const remedy = remedyFor(option)
  return remedy === undefined ? null : { problem: problemWith(option), remedy }
}

/** Options and what is to be done instead, from lines such as `['-c --continue', 'leave it out']`. */
export function remedyMap(...entries: readonly (readonly [options: string, remedy: string])[]): Map<string, string> {
  return new Map(entries.flatMap(([options, remedy]) => options.split(' ').map(option => [option, remedy] as const)))
}

export function optionSet(...lines: readonly string[]): Set<string> {
  return new Set(lines.flatMap(line => line.split(' ')))
}

/** `--sandbox` of `--sandbox=read-only`, `-s` of `-sread-only`. */
export function optionName(arg: string): string {
  return arg.startsWith('--') ? nameBeforeEquals(arg) : arg.slice(0, 2)
}

export function nameBeforeEquals(arg: string): string {
  return arg.split('=')[0] ?? arg
}

/** A lone `-` is a word. So is `--`, and whatever comes after it. */
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

/** How many of the arguments after an option belong to it. */
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
