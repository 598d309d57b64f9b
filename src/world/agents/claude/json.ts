/** Output of a program that may change with every release: what is missing or of another shape reads as empty. */
export type Json = Readonly<Record<string, unknown>>

export function jsonIn(line: string): Json | null {
  try {
    const value: unknown = JSON.parse(line)
    return isJson(value) ? value : null
  } catch {
    return null // Not an event: plain words, or a line that a crash cut off.
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

export function jsons(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(json) : []
}

/** The words of a message's or a tool result's content: a string, or blocks of which some are text. */
export function wordsIn(content: unknown): string {
  if (typeof content === 'string') return content
  return jsons(content)
    .filter(block => block['type'] === 'text')
    .map(block => text(block['text']))
    .join('\n')
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
