import { endsOf } from '../../lib/ends-of.ts'

/** Output of a program that may change with every release: what is missing or of another shape reads as empty. */
export type Json = Readonly<Record<string, unknown>>

/** An object that says what it is. */
export interface JsonEvent {
  readonly type: string
  readonly [field: string]: unknown
}

export function jsonIn(line: string): Json | null {
  try {
    const value: unknown = JSON.parse(line)
    return isJson(value) ? value : null
  } catch {
    return null // Not an event: plain words, or a line that a crash cut off.
  }
}

export function eventIn(line: string): JsonEvent | null {
  const value = jsonIn(line)
  return value === null || text(value['type']) === '' ? null : (value as JsonEvent)
}

/** Characters at each end of a text that are kept. No program says more at once that a person reads. */
const KEPT_OF_TEXT = 131_072

/**
 * An object in a program's output, with the middle of very long texts left out: matched in whole, a text of 64 MB would hold up all
 * sessions for a minute. Threads are not read by this, because a prompt may be as long.
 */
export function jsonInOutput(line: string): Json | null {
  const value = jsonIn(line)
  if (value !== null && line.length > 2 * KEPT_OF_TEXT) cutTexts(value)
  return value
}

export function eventInOutput(line: string): JsonEvent | null {
  const value = jsonInOutput(line)
  return value === null || text(value['type']) === '' ? null : (value as JsonEvent)
}

/** Cuts them in place, level by level and without calling itself: a program may nest as deep as its line is long. */
function cutTexts(whole: object): void {
  const open: object[] = [whole]
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const fields = part as Record<string, unknown>
    for (const name of Object.keys(fields)) {
      const value = fields[name]
      if (typeof value === 'string') fields[name] = endsOf(value, KEPT_OF_TEXT)
      else if (typeof value === 'object' && value !== null) open.push(value)
    }
  }
}

export function json(value: unknown): Json {
  return isJson(value) ? value : {}
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function amount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function jsons(value: unknown): readonly Json[] {
  return list(value).map(json)
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
