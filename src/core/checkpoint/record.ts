import { type Duration, LONGEST_DURATION } from '../../lib/time.ts'
import type { Autonomy } from '../session/session.ts'
import type { WaitLimits, VerifyOptions } from '../session/supervision.ts'
import type { UsageLimits, Usage } from '../session/usage.ts'
import type { Task } from '../session/task.ts'
import { isTaskName } from '../session/names.ts'

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
 * Returns the record, or null unless each part is something that we could have written: another machine, or anybody,
 * may have written it. Drops unknown fields.
 */
export function parseCheckpointRecord(text: string): CheckpointRecord | null {
  if (text.length > LONGEST_RECORD) return null
  try {
    return parseRecord(parseObject(JSON.parse(text)))
  } catch {
    return null
  }
}

type Fields = Readonly<Record<string, unknown>>

function parseRecord(fields: Fields): CheckpointRecord {
  const session = parseObject(fields['session'])
  return {
    version: 1,
    session: {
      id: parseLine(session['id'] ?? ''),
      name: parseLine(session['name']),
      task: parseString(session['task'], isTaskName),
      agent: parseString(session['agent'], word => AGENT.test(word)),
      title: parseText(session['title'] ?? ''),
      cwd: parseLine(session['cwd'] ?? ''),
      argv: parseList(session['argv'], parseText),
      autonomy: parseOneOf(session['autonomy'], ['full', 'edits', 'ask']),
      model: parseNullable(session['model'], parseWord),
      effort: parseNullable(session['effort'], parseWord),
      limits: parseNullable(session['limits'], parseLimits),
      maxTime: parseNullable(session['maxTime'], value => parseLimit(parseDurationValue(value))),
      maxOutput: parseNullable(session['maxOutput'], parseLimit),
      memory: parseNullable(session['memory'], parseLimit),
      patience: parseNullable(session['patience'], parseWaitLimits),
      verify: parseNullable(session['verify'], parseVerify),
    },
    thread: parseNullable(fields['thread'], parseLine),
    goal: parseList(fields['goal'], parseText),
    tasks: parseList(fields['tasks'], parseTask),
    lastWord: parseNullable(fields['lastWord'], parseText),
    state: parseLine(fields['state']),
    reason: parseNullable(fields['reason'], parseText),
    spent: parseNullable(fields['spent'], parseUsage),
    spentInThread: parseNullable(fields['spentInThread'], parseUsage),
  }
}

function parseObject(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('not an object')
  return value as Fields
}

function parseString(value: unknown, fits: (text: string) => boolean): string {
  if (typeof value !== 'string' || !fits(value)) throw new Error('not what belongs here')
  return value
}

const parseLine = (value: unknown): string => parseString(value, text => text.length <= LONGEST_LINE)
const parseText = (value: unknown): string => parseString(value, text => text.length <= LONGEST_TEXT)
const parseWord = (value: unknown): string => parseString(value, text => WORD.test(text))

function parseOneOf<T extends string>(value: unknown, known: readonly T[]): T {
  const found = known.find(text => text === value)
  if (found === undefined) throw new Error('not one of those known')
  return found
}

function parseList<T>(value: unknown, read: (entry: unknown) => T): T[] {
  if (!Array.isArray(value) || value.length > MAX_ENTRIES) throw new Error('not a list')
  return value.map(entry => read(entry))
}

/** Older versions left the field out. */
function parseNullable<T>(value: unknown, read: (value: unknown) => T): T | null {
  return value === null || value === undefined ? null : read(value)
}

function parseAmount(value: unknown): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= Number.MAX_SAFE_INTEGER)) throw new Error('not an amount')
  return value
}

/** Parses a limit. Zero would count as no limit in a comparison with another one. */
function parseLimit(value: unknown): number {
  const number = parseAmount(value)
  if (number === 0) throw new Error('not a limit')
  return number
}

/** A time that is computed from the duration must be a valid date. */
function parseDurationValue(value: unknown): Duration {
  const length = parseAmount(value)
  if (length > LONGEST_DURATION) throw new Error('not a duration')
  return length
}

function parseBoolean(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new Error('not true or false')
  return value
}

function parseTask(value: unknown): CheckpointRecord['tasks'][number] {
  const fields = parseObject(value)
  return {
    id: parseLine(fields['id']),
    title: parseText(fields['title']),
    state: parseOneOf(fields['state'], ['open', 'doing', 'done']),
  }
}

function parseLimits(value: unknown): UsageLimits {
  const fields = parseObject(value)
  const [usd, tokens, turns] = ['usd', 'tokens', 'turns'].map(key => parseNullable(fields[key], parseLimit))
  return { usd: usd ?? null, tokens: tokens ?? null, turns: turns ?? null }
}

function parseWaitLimits(value: unknown): WaitLimits {
  const fields = parseObject(value)
  const [silence, limit, absence] = ['silence', 'limit', 'absence'].map(key =>
    parseNullable(fields[key], parseDurationValue),
  )
  return { silence: silence ?? null, limit: limit ?? null, absence: absence ?? null }
}

function parseVerify(value: unknown): VerifyOptions {
  const fields = parseObject(value)
  return { git: parseBoolean(fields['git']), check: parseNullable(fields['check'], parseText) }
}

function parseUsage(value: unknown): Usage {
  const fields = parseObject(value)
  return {
    input: parseAmount(fields['input']),
    cached: parseAmount(fields['cached']),
    output: parseAmount(fields['output']),
    usd: parseNullable(fields['usd'], parseAmount),
    turns: parseAmount(fields['turns']),
  }
}

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
