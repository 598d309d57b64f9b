/** An item, and the list's statements about its order. */
export interface OrderedItem {
  readonly title: string
  readonly path: readonly string[]
  /** The list's own name for it, if there is one. */
  readonly id: string | null
  /** The positions of items that it follows without naming them. */
  readonly follows: readonly number[]
  /** The names of its dependencies: numbers from 1, ids, titles. */
  readonly names: readonly string[]
  /** The item waits for all items of lower groups. */
  readonly group: number | null
}

export interface Dependencies {
  /** The positions of the dependencies of each item. */
  readonly after: readonly (readonly number[])[]
  readonly objections: readonly string[]
}

/**
 * The limit for a whole list. No real list has more; a stranger's list of a few thousand lines could ask for a hundred
 * times as many.
 */
const MAX_EDGES = 1_000_000

/**
 * Limits the number of all dependencies in a list together. Beyond the limit each item waits only for the last of its
 * own.
 */
export class EdgeLimit {
  #left = MAX_EDGES
  isExceeded = false

  take(places: readonly number[]): readonly number[] {
    if (places.length <= this.#left) {
      this.#left -= places.length
      return places
    }
    this.isExceeded = true
    return places.slice(-1)
  }
}

/** Returns the dependencies of each item. Objects to statements that it cannot follow, and ignores them. */
export function resolveDependencies(items: readonly OrderedItem[]): Dependencies {
  const find = itemFinder(items)
  const lowerThan = lowerGroups(items)
  const limit = new EdgeLimit()
  const objections: string[] = []
  const named = items.map((item, at) =>
    item.names.flatMap(name => {
      const found = limit.take(find(name)).filter(other => other !== at)
      if (found.length === 0)
        objections.push(`${displayName(items, at)} cannot wait for ${describeMissing(find(name), name)}`)
      return found
    }),
  )
  const after = items.map(({ follows, group }, at) => {
    const lower = group === null ? [] : limit.take(lowerThan(group))
    return [...new Set([...limit.take(follows), ...lower, ...(named[at] ?? [])])].filter(other => other !== at)
  })
  if (limit.isExceeded)
    objections.push('tasks wait for too many others: some of them wait only for the last task that they name')
  const kept = breakCycles(after, (from, to) =>
    objections.push(
      `${displayName(items, from)} and ${displayName(items, to)} wait for each other: the loop lets the first start without the second`,
    ),
  )
  return { after: kept, objections }
}

/** Normalizes titles for a comparison, as people would compare them. */
function normalizeTitle(title: string): string {
  return title.trim().replace(/\s+/g, ' ').toLowerCase()
}

/** Finds items by id; by number; by title; by parent. */
function itemFinder(items: readonly OrderedItem[]): (name: string) => number[] {
  const ids = indexItems(items, ({ id }) => (id === null ? [] : [id]))
  const titles = indexItems(items, ({ title }) => [normalizeTitle(title)])
  const paths = indexItems(items, ({ path }) => path.map(normalizeTitle))
  return name => {
    const number = Number(/^#?(\d{1,9})$/.exec(name)?.[1] ?? 0)
    const numbered = number >= 1 && number <= items.length ? [number - 1] : undefined
    return ids.get(name) ?? numbered ?? titles.get(normalizeTitle(name)) ?? paths.get(normalizeTitle(name)) ?? []
  }
}

function indexItems(
  items: readonly OrderedItem[],
  namesOf: (item: OrderedItem) => readonly string[],
): Map<string, number[]> {
  const index = new Map<string, number[]>()
  for (const [at, item] of items.entries()) {
    for (const name of new Set(namesOf(item))) {
      const places = index.get(name)
      if (places === undefined) index.set(name, [at])
      else places.push(at)
    }
  }
  return index
}

/** Returns the positions of all items in lower groups, computed once for each group. */
function lowerGroups(items: readonly OrderedItem[]): (group: number) => readonly number[] {
  const grouped = [...items.entries()].flatMap(([at, { group }]) => (group === null ? [] : [{ at, group }]))
  const sorted = grouped.toSorted((one, other) => one.group - other.group)
  const counts = new Map<number, number>()
  for (const [count, { group }] of sorted.entries()) if (!counts.has(group)) counts.set(group, count)
  const made = new Map<number, readonly number[]>()
  let size = 0
  return group => {
    const count = counts.get(group) ?? 0
    size += made.has(group) ? 0 : count
    // The list has too many items for a list per group: the next lower group waits for those below it.
    const from = size > MAX_EDGES ? (counts.get(sorted[count - 1]?.group ?? 0) ?? 0) : 0
    const lower = made.get(group) ?? sorted.slice(from, count).map(({ at }) => at)
    made.set(group, lower)
    return lower
  }
}

function displayName(items: readonly OrderedItem[], at: number): string {
  return `task ${at + 1} (${items[at]?.title})`
}

function describeMissing(found: readonly number[], name: string): string {
  return found.length > 0 ? 'itself' : `“${name}”, which is not in the list`
}

/**
 * Removes from each cycle the edge that closes it, and reports it. The order is that of the list: earlier statements
 * win.
 */
function breakCycles(after: readonly (readonly number[])[], dropped: (from: number, to: number) => void): number[][] {
  const kept: number[][] = after.map(() => [])
  const states: ('open' | 'done' | undefined)[] = []
  for (const root of after.keys()) {
    const way = states[root] === undefined ? [{ item: root, next: 0 }] : []
    while (way.length > 0) {
      const step = way.at(-1) as { item: number; next: number }
      states[step.item] = 'open'
      const to = after[step.item]?.[step.next++]
      if (to === undefined) {
        states[step.item] = 'done'
        way.pop()
      } else if (states[to] === 'open') dropped(step.item, to)
      else {
        kept[step.item]?.push(to)
        if (states[to] === undefined) way.push({ item: to, next: 0 })
      }
    }
  }
  return kept
}
