import { nameUuid } from '../../../lib/name-uuid.ts'
import { slugify } from '../../../lib/text/slug.ts'

/** A task in its list: an open or ticked box, an entry of a task file, an issue. */
export interface ListItem {
  /**
   * Stays the same when somebody edits the list around the item: it consists of the title, and the number of equal
   * titles before it.
   */
  readonly key: string
  /** The name for people: the position in the list, from 1, or the tracker's own id. */
  readonly label: string
  /** One line. */
  readonly title: string
  /** The headings and items above it, outermost first. */
  readonly path: readonly string[]
  /** The rest of its text in the list; may be empty. */
  readonly body: string
  readonly isDone: boolean
  /** The keys of the items that must be done before it starts. */
  readonly after: readonly string[]
}

/** A change to write into the list. */
export interface ItemMark {
  readonly key: string
  readonly isDone: boolean
  /** For lists that store one. */
  readonly reason: string
}

/** The present list: its items in order, and its problems, one sentence each. */
export interface TaskList {
  readonly items: readonly ListItem[]
  readonly objections: readonly string[]
}

/** The number of objections to report; nobody reads more. */
const MAX_OBJECTIONS = 20

export function limitObjections(all: readonly string[]): readonly string[] {
  if (all.length <= MAX_OBJECTIONS) return all
  return [...all.slice(0, MAX_OBJECTIONS), `and ${all.length - MAX_OBJECTIONS} more of the kind`]
}

/** Long enough that two items of a list never share a hash. */
const HASH_LENGTH = 12

/** Returns a key for each item: it consists of its names, outermost first, and the number of equal names before it. */
export function itemKeys(names: readonly (readonly string[])[]): string[] {
  const seen = new Map<string, number>()
  return names.map(parts => {
    const name = JSON.stringify(parts)
    const count = seen.get(name) ?? 0
    seen.set(name, count + 1)
    const hash = nameUuid(JSON.stringify([name, count]))
      .replaceAll('-', '')
      .slice(0, HASH_LENGTH)
    return `${slugify(parts.at(-1) ?? '', 'task')}-${hash}`
  })
}
