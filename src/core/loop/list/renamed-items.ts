import type { ListItem, TaskList } from './task-list.ts'
import type { Loop, LoopTask } from '../loop-state.ts'

/** The compared part of a title, in characters. */
const MAX_COMPARED_LENGTH = 500
/** The limit of compared pairs of titles; beyond it only the position identifies an item. */
const MAX_PAIRS = 100_000

/** Returns the list with task keys for items that an agent has renamed before. */
export function mapToTaskKeys(list: TaskList, { renamed }: Pick<Loop, 'renamed'>): TaskList {
  if (renamed === undefined) return list
  const listed = new Set(list.items.map(({ key }) => key))
  const keyOf = (key: string): string => {
    const task = renamed[key]
    return task === undefined || listed.has(task) ? key : task
  }
  return {
    ...list,
    items: list.items.map(item => ({ ...item, key: keyOf(item.key), after: item.after.map(keyOf) })),
  }
}

/** Returns a function that maps a task's key to its key in the list. */
export function listKeys({ renamed = {} }: Pick<Loop, 'renamed'>): (task: string) => string {
  const keys = new Map(Object.entries(renamed).map(([listed, task]) => [task, listed]))
  return task => keys.get(task) ?? task
}

/**
 * Matches items of a list with tasks of another title: an agent that appends "(done)" to a task has not created a new
 * one. An item matches the task whose title it repeats, or the task in whose position it stands, if as many items as
 * tasks stand between the same neighbours.
 */
export function matchRenamedItems(tasks: readonly LoopTask[], items: readonly ListItem[]): Map<string, LoopTask> {
  const listed = new Set(items.map(({ key }) => key))
  const known = new Set(tasks.map(({ item }) => item.key))
  const missing = findUnmatched(
    tasks.filter(({ state }) => state.name !== 'dropped'),
    ({ item }) => item.key,
    listed,
  )
  const fresh = findUnmatched(items, ({ key }) => key, known)
  const pairs = new Map<string, LoopTask>()
  const pair = ({ key }: ListItem, task: LoopTask): void => {
    pairs.set(key, task)
    taken.add(task)
  }
  const taken = new Set<LoopTask>()
  if (missing.length * fresh.length <= MAX_PAIRS) {
    const titles = fresh.map(one => ({ ...one, title: normalizeTitle(one.value.title) }))
    for (const { value: task, gap } of missing) {
      const title = normalizeTitle(task.item.title)
      const alike = titles.filter(one => !pairs.has(one.value.key) && isSameTitle(title, one.title))
      const best = alike.find(one => one.gap === gap) ?? alike[0]
      if (best !== undefined) pair(best.value, task)
    }
  }
  const rest = groupByGap(missing.filter(({ value }) => !taken.has(value)))
  for (const [gap, those] of groupByGap(fresh.filter(({ value }) => !pairs.has(value.key)))) {
    const tasksThere = rest.get(gap) ?? []
    if (tasksThere.length !== those.length) continue
    for (const [at, item] of those.entries()) pair(item, tasksThere[at] as LoopTask)
  }
  return pairs
}

interface ItemInGap<T> {
  readonly value: T
  /** The key of the nearest preceding entry that is both a task and in the list. */
  readonly gap: string
}

/** Returns the entries that only one side has, each with the common entry before it. */
function findUnmatched<T>(
  values: readonly T[],
  keyOf: (value: T) => string,
  others: ReadonlySet<string>,
): ItemInGap<T>[] {
  let gap = ''
  return values.flatMap(value => {
    const key = keyOf(value)
    if (!others.has(key)) return [{ value, gap }]
    gap = key
    return []
  })
}

function groupByGap<T>(those: readonly ItemInGap<T>[]): Map<string, T[]> {
  const gaps = new Map<string, T[]>()
  for (const { value, gap } of those) {
    const known = gaps.get(gap)
    if (known === undefined) gaps.set(gap, [value])
    else known.push(value)
  }
  return gaps
}

/** Returns the words of a title without punctuation. */
function normalizeTitle(title: string): string {
  return ` ${title
    .slice(0, MAX_COMPARED_LENGTH)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `
}

/** Returns true if the new title contains the whole old one, or is at least half of it. */
function isSameTitle(old: string, now: string): boolean {
  if (old.trim() === '' || now.trim() === '') return false
  return now.includes(old) || (old.includes(now) && now.length * 2 >= old.length)
}
