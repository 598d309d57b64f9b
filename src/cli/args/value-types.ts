import { STOP_GRACE } from '../../api/config/supervision-keys.ts'
import { parseBytes } from '../../lib/bytes.ts'
import { splitShellWords } from '../../lib/text/shell-words.ts'
import { type Duration, type Instant, parseDuration } from '../../lib/time.ts'

/** The source of the shell's suggestions for a value without a fixed list. */
export type CompletionSource =
  | 'sessions'
  | 'live'
  | 'ended'
  | 'agents'
  | 'resumable'
  | 'files'
  | 'folders'
  | 'config-keys'
  | 'topics'
  | 'channels'
  | 'loops'
  | 'loops-or-files'

/** A type of value on the command line, with its parser, its name in help, and its completion. */
export interface ValueType<T> {
  /** The name of the value in help; empty for a flag, which takes none. */
  readonly placeholder: string
  /** Ends the sentence "it must be …". */
  readonly allowed: string
  readonly choices?: readonly string[]
  readonly completion?: CompletionSource
  /** Words that the shell suggests before those of the source. */
  readonly suggestions?: readonly string[]
  /**
   * The value of the option alone, if the line may omit its value: the next word is the value only if `read` accepts
   * it.
   */
  readonly impliedValue?: string
  /**
   * Returns false for a text that `read` accepts and the command refuses later, with a better message than the parser
   * has: the parser does not suggest such a text.
   */
  readonly accepts?: (text: string) => boolean
  /** Returns undefined when the text is not a value of this type. */
  readonly read: (text: string) => T | undefined
}

/** A point in time as people write it: a time ago, or a date. */
export type TimeSpec = { readonly ago: Duration } | { readonly at: Instant }

export const FLAG: ValueType<true> = { placeholder: '', allowed: '', read: () => true }

export const DURATION: ValueType<Duration> = {
  placeholder: 'DURATION',
  allowed: 'a duration such as 90s, 5m, 1h30m or 2d',
  read: parseDuration,
}

/** A duration, or null for no limit. */
export const DURATION_OR_NONE: ValueType<Duration | null> = {
  placeholder: 'DURATION',
  allowed: 'a duration such as 90s, 30m or 5h, or none',
  read: text => (text === 'none' ? null : parseDuration(text) || (parseDuration(text) === 0 ? null : undefined)),
}

export const GRACE_PERIOD: ValueType<Duration> = {
  placeholder: 'DURATION',
  allowed: STOP_GRACE.allowed,
  read: STOP_GRACE.read,
}

export const POSITIVE_INTEGER: ValueType<number> = {
  placeholder: 'N',
  allowed: 'a whole number from 1 on',
  read: text => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined),
}

/** The number of parallel workers. */
export const PARALLELISM: ValueType<number> = {
  placeholder: '[N]',
  allowed: 'a whole number from 1 to 64',
  impliedValue: '3',
  read: text => (/^([1-9]|[1-5]\d|6[0-4])$/.test(text) ? Number(text) : undefined),
}

export const SMALL_INTEGER: ValueType<number> = {
  placeholder: 'N',
  allowed: 'a whole number from 0 on',
  read: text => (/^\d{1,6}$/.test(text) ? Number(text) : undefined),
}

/** The time to wait: 0 means not at all, null means for ever. */
export const WAIT_LIMIT: ValueType<Duration | null> = {
  placeholder: 'DURATION',
  allowed: 'a duration such as 6h, off, or none',
  read: text => (text === 'none' ? null : text === 'off' ? 0 : parseDuration(text)),
}

export const MEMORY_SIZE: ValueType<number | null> = {
  placeholder: 'SIZE',
  allowed: 'an amount of memory such as 512M or 4G, or none',
  read: text => (text === 'none' ? null : parseBytes(text)),
}

export const OUTPUT_SIZE: ValueType<number | null> = {
  ...MEMORY_SIZE,
  allowed: 'an amount of output such as 512M or 4G, or none',
}

export const LINE_COUNT: ValueType<number | 'all'> = {
  placeholder: 'N',
  allowed: 'a whole number or all',
  read: text => (text === 'all' ? 'all' : /^\d{1,9}$/.test(text) ? Number(text) : undefined),
}

export const NON_NEGATIVE_INTEGER: ValueType<number> = {
  placeholder: 'N',
  allowed: 'a whole number from 0 on',
  read: text => (/^\d{1,9}$/.test(text) ? Number(text) : undefined),
}

/** A count, which people write by the thousand and by the million. */
export const COUNT: ValueType<number> = {
  placeholder: 'N',
  allowed: 'a number from 1 on, such as 20000, 500k or 2M',
  read: parseCount,
}

export const USD_AMOUNT: ValueType<number> = {
  placeholder: 'USD',
  allowed: 'an amount above 0 such as 5 or 0.50',
  read: text => (/^\$?(\d{1,7}(\.\d+)?|\.\d+)$/.test(text) ? Number(text.replace('$', '')) || undefined : undefined),
}

export const TIME: ValueType<TimeSpec> = {
  placeholder: 'WHEN',
  allowed: 'a duration such as 10m, or a date such as 2026-11-15T09:30:00Z',
  read: parseTime,
}

/**
 * A variable for the environment. Its value may be empty; a name alone would add nothing, because the session inherits
 * your whole environment.
 */
export const ASSIGNMENT: ValueType<readonly [string, string]> = {
  placeholder: 'KEY=VALUE',
  allowed: 'KEY=VALUE, where KEY is made of letters, digits and _',
  read: text => {
    const [, key, value] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(text) ?? []
    return key === undefined || value === undefined ? undefined : [key, value]
  },
}

/** A variable for an existing session: a name alone takes its current value from this environment. */
export const ENV_CHANGE: ValueType<readonly [string, string | null]> = {
  placeholder: 'KEY[=VALUE]',
  allowed: 'KEY or KEY=VALUE, where KEY is made of letters, digits and _',
  read: text => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(text) ? [text, null] : ASSIGNMENT.read(text)),
}

export function textType(placeholder: string, completion?: CompletionSource): ValueType<string> {
  const plain = { placeholder, allowed: 'text', read: (given: string) => given }
  return completion === undefined ? plain : { ...plain, completion }
}

/** A task name. The command suggests a valid name instead of an invalid one. */
export const TASK_NAME: ValueType<string> = {
  placeholder: 'NAME',
  allowed: 'lower-case letters, digits and hyphens, without a hyphen at either end',
  accepts: text => !text.startsWith('-'),
  read: text => text,
}

/** A command as words; no words mean no command. */
export const COMMAND_WORDS: ValueType<readonly string[]> = {
  placeholder: 'COMMAND',
  allowed: 'a command whose quotes are closed',
  read: splitShellWords,
}

/** A name that another program defines: any text but an empty one. */
export function wordType(placeholder: string): ValueType<string> {
  return { placeholder, allowed: 'a word', read: given => (given.trim() === '' ? undefined : given) }
}

export function choiceType<const C extends string>(placeholder: string, choices: readonly C[]): ValueType<C> {
  return {
    placeholder,
    allowed: `one of ${choices.join(', ')}`,
    choices,
    read: given => choices.find(name => name === given),
  }
}

export function resolveTime(time: TimeSpec, now: Instant): Instant {
  return 'at' in time ? time.at : now - time.ago
}

function parseCount(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,12}(?:\.\d+)?)([km]?)$/i.exec(text) ?? []
  const factor = { '': 1, k: 1_000, m: 1_000_000 }[unit.toLowerCase()] ?? 1
  const count = Number(amount) * factor
  return Number.isSafeInteger(count) && count > 0 ? count : undefined
}

function parseTime(text: string): TimeSpec | undefined {
  const ago = parseDuration(text)
  if (ago !== undefined) return { ago }
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : { at }
}
