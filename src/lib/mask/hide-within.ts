import type { Mask } from './mask.ts'

/** The same, of plain objects and arrays, with the secrets hidden in every text of it. */
export function hideWithin<T>(value: T, mask: Mask): T {
  return hidden(value, mask) as T
}

function hidden(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') return mask.hide(value)
  if (Array.isArray(value)) return value.map(item => hidden(item, mask))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, hidden(item, mask)]))
}
