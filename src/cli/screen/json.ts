import { escapeInJson } from '../../lib/invisible.ts'

/** One document, indented: it is read by people as often as by programs. */
export function toJson(value: unknown): string {
  return escapeInJson(JSON.stringify(value, null, 2))
}

/** The same in one line. */
export function toJsonLine(value: unknown): string {
  return escapeInJson(JSON.stringify(value))
}
