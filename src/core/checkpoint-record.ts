import { type Duration, LONGEST_DURATION } from '../lib/time.ts'
import type { Autonomy, Patience, Verify } from './session.ts'
import type { Limits, Spending } from './spending.ts'
import type { Task } from './task.ts'
import { isTaskName } from './task-name.ts'

/** What is needed to continue a session where nothing but its repository is left. It is written down with each checkpoint. */
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
    readonly limits: Limits | null
    readonly maxTime: Duration | null
    /** Bytes; null for no limit. */
    readonly maxOutput: number | null
    readonly memory: number | null
    readonly patience: Patience | null
    readonly verify: Verify | null
  }
  readonly thread: string | null
  /** What it was asked for, in order; long texts are cut here and kept whole beside the checkpoint. */
  readonly goal: readonly string[]
  readonly tasks: readonly Pick<Task, 'id' | 'title' | 'state'>[]
  readonly lastWord: string | null
  readonly state: string
  readonly reason: string | null
  /** What it has used up so far, which counts against its limits. */
  readonly spent: Spending | null
  /** What of that its conversation has, as its program counts. */
  readonly spentInThread: Spending | null
}

/** Characters. What we write ourselves is far shorter. */
const LONGEST_RECORD = 400_000
const LONGEST_TEXT = 100_000
const LONGEST_LINE = 4_096
/** In each of its lists; whoever writes one keeps to that. */
export const MOST_ENTRIES = 1_000
/** An agent's own name for something; nothing that its program could take for an option. */
const WORD = /^\w[\w.:/@[\]-]{0,199}$/
const AGENT = /^[a-z][a-z0-9-]{0,30}$/

/** Null unless each part of it is what we could have written: another machine, or anybody, may have. Other fields are left out. */
export function readCheckpointRecord(text: string): CheckpointRecord | null {
  if (text.length > LONGEST_RECORD) return null
  try {
    return recordIn(fieldsOf(JSON.parse(text)))
  } catch {
    return null
  }
}

type Fields = Readonly<Record<string, unknown>>

function recordIn(fields: Fields): CheckpointRecord {
  const session = fieldsOf(fields['session'])
  return {
    version: 1,
    session: {
      id: line(session['id'] ?? ''),
      name: line(session['name']),
      task: fitting(session['task'], isTaskName),
      agent: fitting(session['agent'], word => AGENT.test(word)),
      title: long(session['title'] ?? ''),
      cwd: line(session['cwd'] ?? ''),
      argv: list(session['argv'], long),
      autonomy: oneOf(session['autonomy'], ['full', 'edits', 'ask']),
      model: orNull(session['model'], word),
      effort: orNull(session['effort'], word),
      limits: orNull(session['limits'], limits),
      maxTime: orNull(session['maxTime'], value => positive(duration(value))),
      maxOutput: orNull(session['maxOutput'], positive),
      memory: orNull(session['memory'], positive),
      patience: orNull(session['patience'], patience),
      verify: orNull(session['verify'], verify),
    },
    thread: orNull(fields['thread'], line),
    goal: list(fields['goal'], long),
    tasks: list(fields['tasks'], task),
    lastWord: orNull(fields['lastWord'], long),
    state: line(fields['state']),
    reason: orNull(fields['reason'], long),
    spent: orNull(fields['spent'], spending),
    spentInThread: orNull(fields['spentInThread'], spending),
  }
}

function fieldsOf(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('not an object')
  return value as Fields
}

function fitting(value: unknown, fits: (text: string) => boolean): string {
  if (typeof value !== 'string' || !fits(value)) throw new Error('not what belongs here')
  return value
}

const line = (value: unknown): string => fitting(value, text => text.length <= LONGEST_LINE)
const long = (value: unknown): string => fitting(value, text => text.length <= LONGEST_TEXT)
const word = (value: unknown): string => fitting(value, text => WORD.test(text))

function oneOf<T extends string>(value: unknown, known: readonly T[]): T {
  const found = known.find(text => text === value)
  if (found === undefined) throw new Error('not one of those known')
  return found
}

function list<T>(value: unknown, read: (entry: unknown) => T): T[] {
  if (!Array.isArray(value) || value.length > MOST_ENTRIES) throw new Error('not a list')
  return value.map(entry => read(entry))
}

/** Absent in what an older version has written. */
function orNull<T>(value: unknown, read: (value: unknown) => T): T | null {
  return value === null || value === undefined ? null : read(value)
}

function amount(value: unknown): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= Number.MAX_SAFE_INTEGER)) throw new Error('not an amount')
  return value
}

/** A limit: nothing at all would count as none where it is compared with another one. */
function positive(value: unknown): number {
  const number = amount(value)
  if (number === 0) throw new Error('not a limit')
  return number
}

/** Whatever is counted from now on by it must be a date that can be written. */
function duration(value: unknown): Duration {
  const length = amount(value)
  if (length > LONGEST_DURATION) throw new Error('not a duration')
  return length
}

function flag(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new Error('not true or false')
  return value
}

function task(value: unknown): CheckpointRecord['tasks'][number] {
  const fields = fieldsOf(value)
  return {
    id: line(fields['id']),
    title: long(fields['title']),
    state: oneOf(fields['state'], ['open', 'doing', 'done']),
  }
}

function limits(value: unknown): Limits {
  const fields = fieldsOf(value)
  const [usd, tokens, turns] = ['usd', 'tokens', 'turns'].map(key => orNull(fields[key], positive))
  return { usd: usd ?? null, tokens: tokens ?? null, turns: turns ?? null }
}

function patience(value: unknown): Patience {
  const fields = fieldsOf(value)
  const [silence, limit, absence] = ['silence', 'limit', 'absence'].map(key => orNull(fields[key], duration))
  return { silence: silence ?? null, limit: limit ?? null, absence: absence ?? null }
}

function verify(value: unknown): Verify {
  const fields = fieldsOf(value)
  return { git: flag(fields['git']), check: orNull(fields['check'], long) }
}

function spending(value: unknown): Spending {
  const fields = fieldsOf(value)
  return {
    input: amount(fields['input']),
    cached: amount(fields['cached']),
    output: amount(fields['output']),
    usd: orNull(fields['usd'], amount),
    turns: amount(fields['turns']),
  }
}

/** The messages as they were, if what is kept beside the record is what it was cut from. */
export function wholeGoal({ goal }: CheckpointRecord, whole: readonly string[] | null): readonly string[] {
  const isWhole = whole?.length === goal.length && goal.every((part, at) => isCutFrom(whole[at] ?? '', part))
  return isWhole ? whole : goal
}

function isCutFrom(whole: string, part: string): boolean {
  return whole === part || (part.endsWith('…') && whole.startsWith(part.slice(0, -1)))
}

/** How many of the messages a conversation shows, the first ones: secrets are hidden in them, and not in it. */
export function countRead(goal: readonly string[], heard: readonly string[]): number {
  const words = heard.map(text => text.trim())
  const whole = new Set(words)
  return (
    goal.findLastIndex(text => whole.has(text.trim()) || words.some(heardOne => isMasked(text.trim(), heardOne))) + 1
  )
}

function isMasked(masked: string, text: string): boolean {
  if (masked.length !== text.length || !masked.includes('*')) return false
  for (let at = 0; at < text.length; at++) if (masked[at] !== '*' && masked[at] !== text[at]) return false
  return true
}
