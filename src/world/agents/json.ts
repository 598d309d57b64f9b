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
