import { withoutCycles } from './without-cycles.ts'

/** An item and what its list says about its place among the others. */
export interface Placed {
  readonly title: string
  readonly path: readonly string[]
  /** The list's own name for it, where it has one. */
  readonly id: string | null
  /** Items, by their places in the list, that it comes after without naming them. */
  readonly follows: readonly number[]
  /** What it is to wait for: numbers counted from 1, ids, titles. */
  readonly names: readonly string[]
  /** It waits for all of lower groups. */
  readonly group: number | null
}

export interface Order {
  /** For each item those that it waits for, by their places. */
  readonly after: readonly (readonly number[])[]
  readonly objections: readonly string[]
}

/** Which item waits for which. What cannot be followed is objected to, and else left aside. */
export function orderOf(items: readonly Placed[]): Order {
  const find = finder(items)
  const objections: string[] = []
  const named = items.map((item, at) =>
    item.names.flatMap(name => {
      const found = find(name).filter(other => other !== at)
      if (found.length === 0) objections.push(`${nameOf(items, at)} is to wait for ${why(find(name), name)}`)
      return found
    }),
  )
  const after = items.map(({ follows, group }, at) => {
    const lower = group === null ? [] : placesOf(items, other => other.group !== null && other.group < group)
    return [...new Set([...follows, ...lower, ...(named[at] ?? [])])].filter(other => other !== at)
  })
  const kept = withoutCycles(after, (from, to) =>
    objections.push(
      `${nameOf(items, from)} and ${nameOf(items, to)} wait for each other: the first does not wait for the second`,
    ),
  )
  return { after: kept, objections }
}

/** How titles are compared: as people would. */
function plainly(title: string): string {
  return title.trim().replace(/\s+/g, ' ').toLowerCase()
}

/** By id; by number; by title; by what it is part of. */
function finder(items: readonly Placed[]): (name: string) => number[] {
  const ids = indexed(items, ({ id }) => (id === null ? [] : [id]))
  const titles = indexed(items, ({ title }) => [plainly(title)])
  const paths = indexed(items, ({ path }) => path.map(plainly))
  return name => {
    const number = Number(/^#?(\d{1,9})$/.exec(name)?.[1] ?? 0)
    const numbered = number >= 1 && number <= items.length ? [number - 1] : undefined
    return ids.get(name) ?? numbered ?? titles.get(plainly(name)) ?? paths.get(plainly(name)) ?? []
  }
}

function indexed(items: readonly Placed[], namesOf: (item: Placed) => readonly string[]): Map<string, number[]> {
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

function placesOf(items: readonly Placed[], isMeant: (item: Placed) => boolean): number[] {
  return [...items.entries()].filter(([, item]) => isMeant(item)).map(([at]) => at)
}

function nameOf(items: readonly Placed[], at: number): string {
  return `task ${at + 1} (${items[at]?.title})`
}

function why(found: readonly number[], name: string): string {
  return found.length > 0 ? 'itself: it does not' : `“${name}”, which is not in the list: it does not`
}
