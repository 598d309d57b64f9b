import type { Command, Option } from './command.ts'

/** A command line that was understood. */
export class ParsedArgs {
  readonly command: Command
  /** The arguments in order, options taken out. */
  readonly positionals: readonly string[]
  /** Where in argv each word stood: its bytes may have to be read again. */
  readonly argvIndexes: readonly number[]
  /** What followed `--`, for a command that keeps it apart; null when there was no `--`. */
  readonly rest: readonly string[] | null
  readonly #given: ReadonlyMap<Option<unknown>, readonly unknown[]>

  constructor(parts: {
    command: Command
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

  /** The option's value; the last one when it was given more than once. */
  value<T>(option: Option<T>): T | undefined {
    return this.values(option).at(-1)
  }

  values<T>(option: Option<T>): readonly T[] {
    return (this.#given.get(option) ?? []) as readonly T[]
  }
}
