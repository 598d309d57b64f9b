import { nameUuid } from '../../../lib/name-uuid.ts'
import { slugify } from '../../../lib/text/slug.ts'

/** A piece of work as its list states it: an open or ticked box, an entry of a task file, an issue. */
export interface ListItem {
  /** The same however the list around it is edited: made of its title, and of how many have the same before it. */
  readonly key: string
  /** What people call it: its place in the list, counted from 1, or the tracker's own id. */
  readonly label: string
  /** One line. */
  readonly title: string
  /** What it is part of: the headings and items it stands under, outermost first. */
  readonly path: readonly string[]
  /** What else the list says about it; empty where it says no more. */
  readonly body: string
  readonly isDone: boolean
  /** Keys of the items that must be done before it is begun. */
  readonly after: readonly string[]
}

/** What is to be written into the list. */
export interface ItemMark {
  readonly key: string
  readonly isDone: boolean
  /** For lists that keep one. */
  readonly reason: string
}

/** The list as it is: its items in their order, and what is wrong with it, one sentence each. */
export interface TaskList {
  readonly items: readonly ListItem[]
  readonly objections: readonly string[]
}

/** Objections that are told; nobody reads more. */
const MAX_OBJECTIONS = 20

export function limitObjections(all: readonly string[]): readonly string[] {
  if (all.length <= MAX_OBJECTIONS) return all
  return [...all.slice(0, MAX_OBJECTIONS), `and ${all.length - MAX_OBJECTIONS} more of the kind`]
}

/** Enough of a hash that two items of a list never share it. */
const HASH_LENGTH = 12

/** A key for each item: made of its names, outermost first, and of how many were called the same before it. */
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
