import { nameUuid } from '../../lib/name-uuid.ts'
import { slug } from '../../lib/slug.ts'

/** Enough of a hash that two items of a list never share it. */
const LENGTH = 12

/** A key for each item: made of its names, outermost first, and of how many were called the same before it. */
export function keysOf(names: readonly (readonly string[])[]): string[] {
  const seen = new Map<string, number>()
  return names.map(parts => {
    const name = JSON.stringify(parts)
    const count = seen.get(name) ?? 0
    seen.set(name, count + 1)
    const hash = nameUuid(JSON.stringify([name, count]))
      .replaceAll('-', '')
      .slice(0, LENGTH)
    return `${slug(parts.at(-1) ?? '', 'task')}-${hash}`
  })
}
