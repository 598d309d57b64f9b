import { type Command, isFlag, type Option } from '../table/command.ts'
import { commandNamed } from '../table/commands.ts'
import { GLOBAL_OPTIONS, OPTIONS } from '../table/options.ts'
import { HELP } from '../table/set-up.ts'
import { Line } from './line.ts'
import { missingValue, spareValue, unknownCommand, unknownOption, unreadableValue } from './mistakes.ts'

/** Understands a command line by the table, or refuses it. Nothing is looked up outside of it. */
export function parse(argv: readonly string[]): Line {
  const place = placeOfCommand(argv)
  const word = argv[place]
  const command = word === undefined ? HELP : commandNamed(word)
  if (command === undefined) throw unknownCommand(word as string)
  return new Reader(command, argv, place).read()
}

/** Options that stand before the command: the global ones, and --json. */
const EARLY_OPTIONS = [...GLOBAL_OPTIONS, OPTIONS.json]

function placeOfCommand(argv: readonly string[]): number {
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] as string
    if (word === '--') return at + 1
    if (!isOption(word, EARLY_OPTIONS)) return at
    const { option, value } = split(word, EARLY_OPTIONS)
    if (option === undefined) throw unknownOption(word, null, EARLY_OPTIONS)
    if (!isFlag(option) && value === null) at++
  }
  return argv.length
}

class Reader {
  readonly #command: Command
  readonly #options: readonly Option<unknown>[]
  readonly #argv: readonly string[]
  readonly #place: number
  readonly #given = new Map<Option<unknown>, unknown[]>()
  #at = 0

  constructor(command: Command, argv: readonly string[], place: number) {
    this.#command = command
    this.#options = [...command.options, ...GLOBAL_OPTIONS]
    this.#argv = argv
    this.#place = place
  }

  read(): Line {
    const places: number[] = []
    let rest: readonly string[] | null = null
    for (; this.#at < this.#argv.length; this.#at++) {
      const word = this.#argv[this.#at] as string
      if (this.#at === this.#place) continue
      if (word === '--' && this.#at > this.#place) {
        if (this.#command.rest !== undefined) rest = this.#argv.slice(this.#at + 1)
        else for (let at = this.#at + 1; at < this.#argv.length; at++) places.push(at)
        break
      }
      if (word === '--') continue
      if (!isOption(word, this.#options)) places.push(this.#at)
      else if (word.startsWith('--')) this.#readLong(word)
      else this.#readShorts(word)
    }
    const words = places.map(at => this.#argv[at] as string)
    return new Line({ command: this.#command, words, places, rest, given: this.#given })
  }

  #readLong(word: string): void {
    const { option, value } = split(word, this.#options)
    if (option === undefined) throw unknownOption(word, this.#command, this.#options)
    if (!isFlag(option)) this.#keep(option, value ?? this.#valueAfter(option))
    else if (value === null) this.#keep(option, '')
    else throw spareValue(option)
  }

  /** `-f`, `-fq`, `-n5`, `-n 5`, `-fn5`: flags may share a dash, the last may take a value. */
  #readShorts(word: string): void {
    for (let at = 1; at < word.length; at++) {
      const option = this.#options.find(known => known.short === word[at])
      if (option === undefined) throw unknownOption(`-${word[at]}`, this.#command, this.#options)
      if (isFlag(option)) this.#keep(option, '')
      else return this.#keep(option, word.slice(at + 1) || this.#nextWord(option))
    }
  }

  /** A number that was left out is not looked for in the name of a file; one that is wrong is refused. */
  #valueAfter(option: Option<unknown>): string {
    const { alone, read } = option.kind
    if (alone === undefined) return this.#nextWord(option)
    const next = this.#at + 1 === this.#place ? undefined : this.#argv[this.#at + 1]
    if (next === undefined || (read(next) === undefined && !/^-?\d+$/.test(next))) return alone
    this.#at++
    return next
  }

  #nextWord(option: Option<unknown>): string {
    const next = this.#at + 1 === this.#place ? undefined : this.#argv[this.#at + 1]
    if (next === undefined || (next !== '-' && isOption(next, this.#options))) throw missingValue(option, next)
    this.#at++
    return next
  }

  #keep(option: Option<unknown>, text: string): void {
    const value = option.kind.read(text)
    if (value === undefined) throw unreadableValue(option, text)
    const values = this.#given.get(option)
    if (values === undefined) this.#given.set(option, [value])
    else values.push(value)
  }
}

/** A dash makes an option, except alone, and except before a sentence: prompts may begin with one. */
function isOption(word: string, options: readonly Option<unknown>[]): boolean {
  if (!word.startsWith('-') || word === '-') return false
  if (!/\s/.test(word)) return true
  return word.startsWith('--') && word.includes('=') && split(word, options).option !== undefined
}

function split(
  word: string,
  options: readonly Option<unknown>[],
): { option: Option<unknown> | undefined; value: string | null } {
  if (!word.startsWith('--')) {
    return { option: options.find(known => known.short === word[1]), value: word.slice(2) || null }
  }
  const equals = word.indexOf('=')
  const name = equals < 0 ? word.slice(2) : word.slice(2, equals)
  return { option: options.find(known => known.name === name), value: equals < 0 ? null : word.slice(equals + 1) }
}
