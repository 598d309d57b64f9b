import {
  amount,
  boolean,
  decodeRecord,
  InvalidData,
  listOf,
  nullable,
  numberBetween,
  object,
  oneOf,
  type Parser,
  stringThat,
  withDefault,
} from '../../lib/codec.ts'
import { type Duration, LONGEST_DURATION } from '../../lib/time.ts'
import type { Autonomy } from '../session/session-state.ts'
import type { WaitLimits, VerifyOptions } from '../session/supervision-options.ts'
import type { UsageLimits, Usage } from '../session/usage.ts'
import type { Task } from '../session/tasks-and-tracker-issues.ts'
import { isTaskName } from '../session/session-id-and-name.ts'

/** Everything that continues a session when only its repository is left. Each checkpoint stores it. */
export interface CheckpointRecord {
  readonly version: 1
  readonly session: {
    readonly id: string
    readonly name: string
    readonly task: string
    readonly agent: string
    readonly title: string
    readonly cwd: string
    readonly argv: readonly string[]
    readonly autonomy: Autonomy
    readonly model: string | null
    readonly effort: string | null
    readonly limits: UsageLimits | null
    readonly maxTime: Duration | null
    /** Bytes; null for no limit. */
    readonly maxOutput: number | null
    readonly memory: number | null
    readonly patience: WaitLimits | null
    readonly verify: VerifyOptions | null
  }
  readonly thread: string | null
  /** The messages, in order. The record truncates long texts; the checkpoint stores them in full beside it. */
  readonly goal: readonly string[]
  readonly tasks: readonly Pick<Task, 'id' | 'title' | 'state'>[]
  readonly lastWord: string | null
  readonly state: string
  readonly reason: string | null
  /** The usage so far, which counts against the session's limits. */
  readonly spent: Usage | null
  /** The part of `spent` that belongs to the conversation, as its program counts it. */
  readonly spentInThread: Usage | null
}

/** Characters. Our own records are far shorter. */
const LONGEST_RECORD = 400_000
const LONGEST_TEXT = 100_000
const LONGEST_LINE = 4_096
/** The limit of each list; every writer of a record respects it. */
export const MAX_ENTRIES = 1_000
/** An agent's own name for something. No program can take it for an option. */
const WORD = /^\w[\w.:/@[\]-]{0,199}$/
const AGENT = /^[a-z][a-z0-9-]{0,30}$/

/**
 * Reads a record. Throws `InvalidData` unless each part is something that we could have written: another machine, or
 * anybody, may have written it. Drops unknown fields.
 */
export function decodeCheckpointRecord(text: string): CheckpointRecord {
  if (text.length > LONGEST_RECORD) throw new InvalidData('it is too long')
  return decodeRecord({ version: 1, parse: parseRecord }, text)
}

/** Like `decodeCheckpointRecord`, but returns null for an invalid record. */
export function parseCheckpointRecord(text: string): CheckpointRecord | null {
  try {
    return decodeCheckpointRecord(text)
  } catch (cause) {
    if (cause instanceof InvalidData) return null
    throw cause
  }
}

const line = stringThat(text => text.length <= LONGEST_LINE)
const longText = stringThat(text => text.length <= LONGEST_TEXT)
const word = stringThat(text => WORD.test(text))
/** A time that is computed from the duration must be a valid date. */
const duration = numberBetween(0, LONGEST_DURATION)

/** Zero would count as no limit in a comparison with another one. */
const limit: Parser<number> = numberBetween(Number.MIN_VALUE, Number.MAX_SAFE_INTEGER)

/** Older versions left the field out. */
function orNull<T>(parse: Parser<T>): Parser<T | null> {
  return withDefault(nullable(parse), null)
}

const parseUsage: Parser<Usage> = object({
  input: amount,
  cached: amount,
  output: amount,
  usd: orNull(amount),
  turns: amount,
})

const parseRecord: Parser<CheckpointRecord> = object({
  version: withDefault(oneOf(1), 1),
  session: object({
    id: withDefault(line, ''),
    name: line,
    task: stringThat(isTaskName),
    agent: stringThat(text => AGENT.test(text)),
    title: withDefault(longText, ''),
    cwd: withDefault(line, ''),
    argv: listOf(longText, MAX_ENTRIES),
    autonomy: oneOf('full', 'edits', 'ask'),
    model: orNull(word),
    effort: orNull(word),
    limits: orNull(object({ usd: orNull(limit), tokens: orNull(limit), turns: orNull(limit) })),
    maxTime: orNull(numberBetween(Number.MIN_VALUE, LONGEST_DURATION)),
    maxOutput: orNull(limit),
    memory: orNull(limit),
    patience: orNull(object({ silence: orNull(duration), limit: orNull(duration), absence: orNull(duration) })),
    verify: orNull(object({ git: boolean, check: orNull(longText) })),
  }),
  thread: orNull(line),
  goal: listOf(longText, MAX_ENTRIES),
  tasks: listOf(object({ id: line, title: longText, state: oneOf('open', 'doing', 'done') }), MAX_ENTRIES),
  lastWord: orNull(longText),
  state: line,
  reason: orNull(longText),
  spent: orNull(parseUsage),
  spentInThread: orNull(parseUsage),
})

/** Returns the full messages if the record's texts are truncations of them; else the record's texts. */
export function completeMessages({ goal }: CheckpointRecord, whole: readonly string[] | null): readonly string[] {
  const isWhole = whole?.length === goal.length && goal.every((part, at) => isTruncationOf(whole[at] ?? '', part))
  return isWhole ? whole : goal
}

function isTruncationOf(whole: string, part: string): boolean {
  return whole === part || (part.endsWith('…') && whole.startsWith(part.slice(0, -1)))
}

/**
 * Returns how many of the messages, from the first on, a conversation shows. The messages have their secrets masked;
 * the conversation does not.
 */
export function countReadMessages(goal: readonly string[], heard: readonly string[]): number {
  const words = heard.map(text => text.trim())
  const whole = new Set(words)
  return (
    goal.findLastIndex(text => whole.has(text.trim()) || words.some(heardOne => isMaskedCopy(text.trim(), heardOne))) +
    1
  )
}

function isMaskedCopy(masked: string, text: string): boolean {
  if (masked.length !== text.length || !masked.includes('*')) return false
  for (let at = 0; at < text.length; at++) if (masked[at] !== '*' && masked[at] !== text[at]) return false
  return true
}
