import {
  type CommandDefinition,
  type CommandHeader,
  commandNames,
  findCommand,
  isFlag,
  type Option,
} from './command-definition.ts'
import { GLOBAL_OPTIONS, OPTIONS } from './options.ts'
import { ParsedArgs } from './parsed-args.ts'
import { missingValue, unexpectedValue, unknownCommand, unknownOption, invalidValue } from './errors.ts'

/** Returns the command that a line names: `help` if it names none. Refuses an unknown name. */
export function selectCommand<C extends CommandHeader>(argv: readonly string[], commands: readonly C[]): C {
  const word = argv[commandIndex(argv)] ?? 'help'
  const command = findCommand(commands, word)
  if (command === undefined) throw unknownCommand(word, commandNames(commands))
  return command
}

/** Parses the line of a command by its definition, or refuses it. It uses nothing outside of the two. */
export function parseArgs(argv: readonly string[], command: CommandDefinition): ParsedArgs {
  return new ArgsParser(command, argv, commandIndex(argv)).parse()
}

/** Options that may stand before the command: the global ones, and --json. */
const EARLY_OPTIONS = [...GLOBAL_OPTIONS, OPTIONS.json]

function commandIndex(argv: readonly string[]): number {
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] as string
    if (word === '--') return index + 1
    if (!isOption(word, EARLY_OPTIONS)) return index
    const { option, value } = splitOption(word, EARLY_OPTIONS)
    if (option === undefined) throw unknownOption(word, null, EARLY_OPTIONS)
    if (!isFlag(option) && value === null) index++
  }
  return argv.length
}

class ArgsParser {
  readonly #command: CommandDefinition
  readonly #options: readonly Option<unknown>[]
  readonly #argv: readonly string[]
  readonly #commandIndex: number
  readonly #given = new Map<Option<unknown>, unknown[]>()
  #index = 0

  constructor(command: CommandDefinition, argv: readonly string[], commandIndex: number) {
    this.#command = command
    this.#options = [...command.options, ...GLOBAL_OPTIONS]
    this.#argv = argv
    this.#commandIndex = commandIndex
  }

  parse(): ParsedArgs {
    const argvIndexes: number[] = []
    let rest: readonly string[] | null = null
    for (; this.#index < this.#argv.length; this.#index++) {
      const word = this.#argv[this.#index] as string
      if (this.#index === this.#commandIndex) continue
      if (word === '--' && this.#index > this.#commandIndex) {
        if (this.#command.rest !== undefined) rest = this.#argv.slice(this.#index + 1)
        else for (let index = this.#index + 1; index < this.#argv.length; index++) argvIndexes.push(index)
        break
      }
      if (word === '--') continue
      if (!isOption(word, this.#options)) argvIndexes.push(this.#index)
      else if (word.startsWith('--')) this.#readLongOption(word)
      else this.#readShortOptions(word)
    }
    const words = argvIndexes.map(index => this.#argv[index] as string)
    return new ParsedArgs({ command: this.#command, words, places: argvIndexes, rest, given: this.#given })
  }

  #readLongOption(word: string): void {
    const { option, value } = splitOption(word, this.#options)
    if (option === undefined) throw unknownOption(word, this.#command, this.#options)
    if (!isFlag(option)) this.#addValue(option, value ?? this.#optionalValue(option))
    else if (value === null) this.#addValue(option, '')
    else throw unexpectedValue(option)
  }

  /** Reads `-f`, `-fq`, `-n5`, `-n 5`, `-fn5`: flags may share a dash, and the last may take a value. */
  #readShortOptions(word: string): void {
    for (let index = 1; index < word.length; index++) {
      const option = this.#options.find(known => known.short === word[index])
      if (option === undefined) throw unknownOption(`-${word[index]}`, this.#command, this.#options)
      if (isFlag(option)) this.#addValue(option, '')
      else return this.#addValue(option, word.slice(index + 1) || this.#requiredValue(option))
    }
  }

  /** Uses the implied value if the next word is not a number, such as a file name; refuses a wrong number. */
  #optionalValue(option: Option<unknown>): string {
    const { impliedValue, read } = option.valueType
    if (impliedValue === undefined) return this.#requiredValue(option)
    const next = this.#index + 1 === this.#commandIndex ? undefined : this.#argv[this.#index + 1]
    if (next === undefined || (read(next) === undefined && !/^-?\d+$/.test(next))) return impliedValue
    this.#index++
    return next
  }

  #requiredValue(option: Option<unknown>): string {
    const next = this.#index + 1 === this.#commandIndex ? undefined : this.#argv[this.#index + 1]
    if (next === undefined || (next !== '-' && isOption(next, this.#options))) throw missingValue(option, next)
    this.#index++
    return next
  }

  #addValue(option: Option<unknown>, text: string): void {
    const value = option.valueType.read(text)
    if (value === undefined) throw invalidValue(option, text)
    const values = this.#given.get(option)
    if (values === undefined) this.#given.set(option, [value])
    else values.push(value)
  }
}

/** A leading dash makes an option, except for a lone dash and for a sentence: prompts may begin with a dash. */
function isOption(word: string, options: readonly Option<unknown>[]): boolean {
  if (!word.startsWith('-') || word === '-') return false
  if (!/\s/.test(word)) return true
  return word.startsWith('--') && word.includes('=') && splitOption(word, options).option !== undefined
}

function splitOption(
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
