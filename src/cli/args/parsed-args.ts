import type { CommandDefinition, Option } from './command-definition.ts'

/** The result of parsing a command line. */
export class ParsedArgs {
  readonly command: CommandDefinition
  /** The arguments in order, without the options. */
  readonly positionals: readonly string[]
  /** The index in argv of each positional argument: a caller may have to read its bytes again. */
  readonly argvIndexes: readonly number[]
  /** The arguments after `--`, for a command that separates them; null without a `--`. */
  readonly rest: readonly string[] | null
  readonly #given: ReadonlyMap<Option<unknown>, readonly unknown[]>

  constructor(parts: {
    command: CommandDefinition
    words: readonly string[]
    places: readonly number[]
    rest: readonly string[] | null
    given: ReadonlyMap<Option<unknown>, readonly unknown[]>
  }) {
    this.command = parts.command
    this.positionals = parts.words
    this.argvIndexes = parts.places
    this.rest = parts.rest
    this.#given = parts.given
  }

  has(option: Option<unknown>): boolean {
    return this.#given.has(option)
  }

  /** Returns the option's value; the last one if the line repeats the option. */
  value<T>(option: Option<T>): T | undefined {
    return this.values(option).at(-1)
  }

  values<T>(option: Option<T>): readonly T[] {
    return (this.#given.get(option) ?? []) as readonly T[]
  }
}
