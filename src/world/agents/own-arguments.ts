import type { Objection } from '../../ports/agent.ts'

/** How a program reads its command line. */
interface CommandLine {
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
export interface Rules extends CommandLine {
  /** What to do instead of giving it this option; undefined when it may be given. */
  readonly remedyFor: (option: string) => string | undefined
  /** The sentence about an option that has a remedy. */
  readonly problemWith: (option: string) => string
  readonly toWord: (word: string) => Objection | null
}

/** The first objection to the caller's own arguments, first of all to an option. */
export function argumentObjection(args: readonly string[], rules: Rules): Objection | null {
  const { options, words } = sorted(args, rules)
  return first(options, option => toOption(option, rules)) ?? first(words, rules.toWord)
}

function toOption(option: string, { remedyFor, problemWith }: Rules): Objection | null {
  const remedy = remedyFor(option)
  return remedy === undefined ? null : { problem: problemWith(option), remedy }
}

/** Options and what is to be done instead, from lines such as `['-c --continue', 'leave it out']`. */
export function remedies(...lines: readonly (readonly [options: string, remedy: string])[]): Map<string, string> {
  return new Map(lines.flatMap(([options, remedy]) => options.split(' ').map(option => [option, remedy] as const)))
}

export function optionSet(...lines: readonly string[]): Set<string> {
  return new Set(lines.flatMap(line => line.split(' ')))
}

/** `--sandbox` of `--sandbox=read-only`, `-s` of `-sread-only`. */
export function joinedName(arg: string): string {
  return arg.startsWith('--') ? nameBeforeEquals(arg) : arg.slice(0, 2)
}

export function nameBeforeEquals(arg: string): string {
  return arg.split('=')[0] ?? arg
}

/** A lone `-` is a word. So is `--`, and whatever comes after it. */
function sorted(args: readonly string[], line: CommandLine): { options: string[]; words: string[] } {
  const options: string[] = []
  const words: string[] = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--') return { options, words: [...words, ...args.slice(at)] }
    if (!arg.startsWith('-') || arg === '-') {
      words.push(arg)
      continue
    }
    const option = line.nameOf(arg)
    options.push(option)
    if (option === arg) at += taken(option, args.slice(at + 1), line)
  }
  return { options, words }
}

/** How many of the arguments after an option belong to it. */
function taken(option: string, rest: readonly string[], line: CommandLine): number {
  if (line.none?.has(option)) return 0
  if (line.one?.has(option)) return 1
  if (line.several?.has(option)) return 1 + wordsAhead(rest.slice(1), line)
  if (line.others === 'none') return 0
  const words = wordsAhead(rest, line)
  return line.others === 'one' ? Math.min(words, 1) : words
}

function wordsAhead(rest: readonly string[], { noWord = /^-/ }: CommandLine): number {
  const end = rest.findIndex(arg => noWord.test(arg))
  return end < 0 ? rest.length : end
}

function first(items: readonly string[], objectTo: (item: string) => Objection | null): Objection | null {
  for (const item of items) {
    const objection = objectTo(item)
    if (objection !== null) return objection
  }
  return null
}
