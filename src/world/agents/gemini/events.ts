/** A line of `gemini --output-format stream-json`, as far as it was looked at: what is inside may be anything. */
export interface GeminiEvent {
  readonly type: string
  readonly [field: string]: unknown
}

export function eventIn(line: string): GeminiEvent | undefined {
  const value = jsonIn(line)
  return typeof value['type'] === 'string' ? (value as GeminiEvent) : undefined
}

/** The fields of a JSON object; none when it is not one. */
export function jsonIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return fieldsOf(JSON.parse(text))
  } catch {
    return {}
  }
}

export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

export function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
