import type { Instant } from '../../lib/time.ts'
import { inLine } from './material.ts'

/** What a task tracker said when it was last asked. */
export interface Tracker {
  readonly kind: string
  readonly version: string
  readonly at: Instant
  readonly hash: string
  readonly ready: readonly { readonly id: string; readonly title: string; readonly state: string }[]
}

const MOST = 200
/** The farthest that can be written as a date. */
const LAST_INSTANT = 8.64e15

/** Reads what was noted of a tracker; null when it is not to be understood. Whatever it says is cut to size. */
export function readTracker(text: string): Tracker | null {
  const found = parse(text)
  const { kind, version, at, hash, ready } = found
  if (!isWord(kind) || !isWord(version) || !isWord(hash) || !Array.isArray(ready)) return null
  if (typeof at !== 'number' || !(Math.abs(at) <= LAST_INSTANT)) return null
  const tasks = (ready as unknown[]).slice(0, MOST).flatMap(item => {
    const { id, title, state } = (item ?? {}) as Record<string, unknown>
    return isWord(id) && isWord(title) && isWord(state)
      ? [{ id: inLine(id), title: inLine(title), state: inLine(state) }]
      : []
  })
  return { kind: inLine(kind), version: inLine(version), at, hash: inLine(hash), ready: tasks }
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {} // Half written, or not ours.
  }
}

function isWord(value: unknown): value is string {
  return typeof value === 'string'
}
