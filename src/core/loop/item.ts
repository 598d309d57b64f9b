/** A piece of work as its list states it: an open or ticked box, an entry of a task file, an issue. */
export interface Item {
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
export interface Mark {
  readonly key: string
  readonly isDone: boolean
  /** For lists that keep one. */
  readonly reason: string
}

/** The list as it is: its items in their order, and what is wrong with it, one sentence each. */
export interface ItemList {
  readonly items: readonly Item[]
  readonly objections: readonly string[]
}

/** Objections that are told; nobody reads more. */
const MOST_OBJECTIONS = 20

export function firstObjections(all: readonly string[]): readonly string[] {
  if (all.length <= MOST_OBJECTIONS) return all
  return [...all.slice(0, MOST_OBJECTIONS), `and ${all.length - MOST_OBJECTIONS} more of the kind`]
}
