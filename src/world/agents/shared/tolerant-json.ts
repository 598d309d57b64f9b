import { fields, isObject, tryParseJson } from '../../../lib/codec.ts'
import { headAndTail } from '../../../lib/text/head-and-tail.ts'

/** Output of a program that may change with every release: a missing field or one of another type reads as empty. */
export type JsonObject = Readonly<Record<string, unknown>>

/** An object with a type. */
export interface JsonEvent {
  readonly type: string
  readonly [field: string]: unknown
}

export function parseObject(line: string): JsonObject | null {
  return tryParseJson(line, fields) // Other lines are plain text, or a crash cut them off.
}

export function parseEvent(line: string): JsonEvent | null {
  const value = parseObject(line)
  return value === null || asString(value['type']) === '' ? null : (value as JsonEvent)
}

/** The number of characters to keep at each end of a text. No program prints a longer text that a person reads. */
const TEXT_END_LENGTH = 131_072

/**
 * Parses an object in a program's output and cuts the middle out of very long texts: regular expressions on a text of
 * 64 MB would block all sessions for a minute. Readers of threads do not use it, because a prompt may be that long.
 */
export function jsonInOutput(line: string): JsonObject | null {
  const value = parseObject(line)
  if (value !== null && line.length > 2 * TEXT_END_LENGTH) cutTexts(value)
  return value
}

export function eventInOutput(line: string): JsonEvent | null {
  const value = jsonInOutput(line)
  return value === null || asString(value['type']) === '' ? null : (value as JsonEvent)
}

/** Cuts the texts in place, without recursion: a program may nest as deep as its line is long. */
function cutTexts(whole: object): void {
  const open: object[] = [whole]
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const fields = part as Record<string, unknown>
    for (const name of Object.keys(fields)) {
      const value = fields[name]
      if (typeof value === 'string') fields[name] = headAndTail(value, TEXT_END_LENGTH)
      else if (typeof value === 'object' && value !== null) open.push(value)
    }
  }
}

export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

export function asString(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function asNumber(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function asObjects(value: unknown): readonly JsonObject[] {
  return asArray(value).map(asObject)
}

/** Returns the text of a message or of a tool result: a string, or those blocks that are text. */
export function joinTextBlocks(content: unknown): string {
  if (typeof content === 'string') return content
  return asObjects(content)
    .filter(block => block['type'] === 'text')
    .map(block => asString(block['text']))
    .join('\n')
}

/** Returns the text of a message that a program stores in parts of any type. */
export function joinTextParts(content: unknown): string {
  if (typeof content === 'string') return content
  return asObjects(content)
    .map(piece => asString(piece['text']))
    .join('')
}
