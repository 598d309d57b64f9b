import { LAST_INSTANT } from './time.ts'

/**
 * Returns the value in its type, without fields that the type lacks, or throws `InvalidData`. This module depends on no
 * library: commands that only read start in a few milliseconds, and a library takes longer to load.
 */
export type Parser<T> = (value: unknown) => T

/**
 * A text or value from outside does not have the expected form. The message names the place and never the content,
 * which may be a secret.
 */
export class InvalidData extends Error {
  override readonly name: string = 'InvalidData'
}

/** A newer version of this program wrote the data. Nobody may drop or replace it. */
export class NewerVersion extends InvalidData {
  override readonly name = 'NewerVersion'

  constructor(found: number, known: number) {
    super(`a newer oneshot wrote it (version ${found}, this one knows ${known}): oneshot update`)
  }
}

/** Parses a JSON text. Only this file calls `JSON.parse`. */
export function parseJson<T>(text: string, parse: Parser<T>): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new InvalidData('it is not JSON')
  }
  return parse(value)
}

/** Returns null for a text that is not JSON or has another form: for foreign data, and for data to create again. */
export function tryParseJson<T>(text: string, parse: Parser<T>): T | null {
  try {
    return parse(JSON.parse(text))
  } catch (cause) {
    if (cause instanceof InvalidData || cause instanceof SyntaxError) return null
    throw cause
  }
}

/** The format of a stored record. A text without a version is of version 1. */
export interface RecordFormat<T> {
  /** A release increases it when the previous one could no longer read the record. */
  readonly version: number
  readonly parse: Parser<T>
}

export function encodeRecord<T extends object>({ version }: RecordFormat<T>, record: T): string {
  return JSON.stringify({ version, ...record })
}

export function decodeRecord<T>({ version, parse }: RecordFormat<T>, text: string): T {
  return parseJson(text, value => {
    assertKnownVersion(value, version)
    return parse(value)
  })
}

/** Throws if the object names a version above the known one. */
export function assertKnownVersion(value: unknown, known: number): void {
  const { version = 1 } = fields(value)
  if (typeof version !== 'number') throw new InvalidData('its version is not a number')
  if (version > known) throw new NewerVersion(version, known)
}

/** Returns true for an object that is not a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Accepts any object and checks no field. */
export function fields(value: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw new InvalidData('it is not an object')
  return value
}

/** Accepts any value: the caller checks it. */
export function anything(value: unknown): unknown {
  return value
}

export function string(value: unknown): string {
  if (typeof value !== 'string') throw new InvalidData('it is not a text')
  return value
}

/** Accepts a text that fits: a pattern, a length in characters, or any other condition. */
export function stringThat(fits: (text: string) => boolean): Parser<string> {
  return value => {
    const text = string(value)
    if (!fits(text)) throw new InvalidData('it is not a text of the expected form')
    return text
  }
}

export function boolean(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new InvalidData('it is neither true nor false')
  return value
}

/** Accepts a number from `min` to `max`. */
export function numberBetween(min: number, max: number): Parser<number> {
  return value => {
    if (typeof value !== 'number' || !(value >= min && value <= max))
      throw new InvalidData(`it is not a number from ${min} to ${max}`)
    return value
  }
}

/** Accepts a count or a size: an integer from 0 on. */
export function count(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw new InvalidData('it is not an integer')
  return amount(value)
}

/** Accepts a number from 0 on, with or without a fraction. */
export const amount = numberBetween(0, Number.MAX_SAFE_INTEGER)

/** Accepts an instant that a date can express. */
export const instant = numberBetween(-LAST_INSTANT, LAST_INSTANT)

export function oneOf<const T extends string | number | boolean>(...known: readonly T[]): Parser<T> {
  return value => {
    const found = known.find(one => one === value)
    if (found === undefined) throw new InvalidData('it is none of the known values')
    return found
  }
}

export function nullable<T>(parse: Parser<T>): Parser<T | null> {
  return value => (value === null ? null : parse(value))
}

/** Accepts a missing field, which the parsed object then lacks too. */
export function optional<T>(parse: Parser<T>): Parser<T | undefined> {
  return value => (value === undefined ? undefined : parse(value))
}

/** Returns `otherwise` for a missing field: older versions did not write it. */
export function withDefault<T>(parse: Parser<T>, otherwise: NoInfer<T>): Parser<T> {
  return value => (value === undefined ? otherwise : parse(value))
}

export function listOf<T>(parse: Parser<T>, maxLength = Number.MAX_SAFE_INTEGER): Parser<T[]> {
  return value => {
    if (!Array.isArray(value)) throw new InvalidData('it is not a list')
    if (value.length > maxLength) throw new InvalidData(`it has more than ${maxLength} entries`)
    return value.map((entry, index) => parseAt(index, parse, entry))
  }
}

/** Keeps the valid entries of a list and drops the others. */
export function validEntriesOf<T>(parse: Parser<T>): Parser<T[]> {
  const parseEntry = (entry: unknown): T[] => {
    try {
      return [parse(entry)]
    } catch (cause) {
      if (cause instanceof InvalidData) return []
      throw cause
    }
  }
  return value => listOf(parseEntry)(value).flatMap(found => found)
}

/** Accepts an object with any keys, as a map. */
export function mapOf<T>(parse: Parser<T>): Parser<Readonly<Record<string, T>>> {
  return value => Object.fromEntries(Object.entries(fields(value)).map(([key, entry]) => [key, parse(entry)] as const))
}

type Shape = Readonly<Record<string, Parser<unknown>>>
type OptionalKey<S extends Shape> = { [K in keyof S]: undefined extends ReturnType<S[K]> ? K : never }[keyof S]

/** The object that `object` returns for these parsers. */
type ObjectOf<S extends Shape> = {
  readonly [K in Exclude<keyof S, OptionalKey<S>>]: ReturnType<S[K]>
} & {
  readonly [K in OptionalKey<S>]?: Exclude<ReturnType<S[K]>, undefined>
}

/** Accepts an object with these fields and drops all others. */
export function object<S extends Shape>(shape: S): Parser<ObjectOf<S>> {
  const parsers = Object.entries(shape)
  return value => {
    const given = fields(value)
    const parsed: Record<string, unknown> = {}
    for (const [name, parse] of parsers) {
      const field = parseAt(name, parse, Object.hasOwn(given, name) ? given[name] : undefined)
      if (field !== undefined) parsed[name] = field
    }
    return parsed as ObjectOf<S>
  }
}

/** Parses a part of a value. The message of a failure names the part. */
function parseAt<T>(part: string | number, parse: Parser<T>, value: unknown): T {
  try {
    return parse(value)
  } catch (cause) {
    if (!(cause instanceof InvalidData) || cause instanceof NewerVersion) throw cause
    const isInner = cause.message.startsWith('in ')
    throw new InvalidData(isInner ? `in ${part} ${cause.message}` : `in ${part}: ${cause.message}`)
  }
}
