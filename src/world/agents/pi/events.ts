/** A line of `pi --mode json`, as far as it was looked at: what is inside may be anything. */
export interface PiEvent {
  readonly type: string
  readonly [field: string]: unknown
}

export interface PiMessage {
  readonly role: string
  readonly content: unknown
  readonly stopReason: string
  readonly errorMessage: string
  /** When it began, in milliseconds since 1970; null in what is not dated. */
  readonly timestamp: number | null
  readonly usage: unknown
}

export function eventIn(line: string): PiEvent | undefined {
  try {
    const value = fieldsOf(JSON.parse(line))
    return typeof value['type'] === 'string' ? (value as PiEvent) : undefined
  } catch {
    return undefined // Not an event: what extensions print may get among them.
  }
}

export function messageIn(value: unknown): PiMessage {
  const { role, content, stopReason, errorMessage, timestamp, usage } = fieldsOf(value)
  return {
    role: wordOf(role),
    content,
    stopReason: wordOf(stopReason),
    errorMessage: wordOf(errorMessage),
    timestamp: typeof timestamp === 'number' ? timestamp : null,
    usage,
  }
}

/** The text in a message or in what a tool gave back: a string, or parts of which some are text. */
export function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  const parts = Array.isArray(content) ? content.map(fieldsOf) : []
  return parts
    .filter(part => part['type'] === 'text')
    .map(part => wordOf(part['text']))
    .join('\n')
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
