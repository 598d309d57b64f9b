import type { Instant } from '../../../lib/time.ts'
import { newTask, addNotes } from '../loop-updates.ts'
import type { ListItem, TaskList, ItemMark } from './task-list.ts'
import { isInProgress, type Loop, type LoopTask } from '../loop-state.ts'
import { formatFew } from '../lost-work/lost-work.ts'
import { matchRenamedItems, mapToTaskKeys } from './renamed-items.ts'

/** Adopts the present list while no agent is at work: a person made every change of a tick. */
export function syncList(loop: Loop, read: TaskList, at: Instant): Loop {
  // While an agent works in the same files, nobody knows who changed an item: the verification reviews the list later.
  if (loop.tickAt === 'here' && loop.tasks.some(isInProgress)) return addNotes(loop, read.objections)
  const list = mapToTaskKeys(read, loop)
  const known = new Map(loop.tasks.map(task => [task.item.key, task]))
  // Pending marks count as written.
  const marks = new Map(loop.marksToWrite.map(mark => [mark.key, mark.isDone]))
  const labels = new LabelAllocator(loop.tasks)
  const renamed = renamedTasks(loop)
  const listed = list.items.map(one => {
    const item = { ...one, isDone: marks.get(one.key) ?? one.isDone }
    const before = known.get(item.key)
    const task = before === undefined ? newTask(...labels.next(item)) : withListedItem(before, item, renamed)
    return loop.tickAt === 'here' ? applyUserTick(task, at) : applyTick(task, at)
  })
  const keys = new Set(list.items.map(({ key }) => key))
  const gone = loop.tasks.filter(({ item }) => !keys.has(item.key))
  const tasks = [...listed, ...gone.map(markDropped)]
  const lost = tasks.filter(
    ({ item, state }) => state.name === 'dropped' && known.get(item.key)?.state.name !== 'dropped',
  )
  const notes = lost.map(
    ({ item }) => `task ${item.label} is no longer in the list: ${item.title.slice(0, MAX_TITLE_LENGTH)}`,
  )
  return addNotes({ ...loop, tasks }, [...list.objections, ...notes])
}

/**
 * Numbers tasks. A task keeps its first number, so that a sentence about it stays true however somebody edits the list.
 * A later task gets its position in the list if no other task has that number, else the next free number.
 */
class LabelAllocator {
  readonly #taken: Set<string>
  #most: number
  #number: number

  constructor(tasks: readonly LoopTask[]) {
    this.#taken = new Set(tasks.map(({ item }) => item.label))
    this.#number = tasks.reduce((most, { number }) => Math.max(most, number), 0)
    this.#most = tasks.reduce((most, { item }) => Math.max(most, Number(item.label) || 0), this.#number)
  }

  next(item: ListItem): [item: ListItem, number: number] {
    const label = this.#taken.has(item.label) ? String(this.#most + 1) : item.label
    this.#taken.add(label)
    this.#most = Math.max(this.#most, Number(label) || 0)
    return [{ ...item, label }, ++this.#number]
  }
}

/** Returns the task with its present item, and reopens a dropped one. */
function withListedItem(task: LoopTask, item: ListItem, renamed: ReadonlySet<string>): LoopTask {
  const state = task.state.name === 'dropped' ? ({ name: 'open' } as const) : task.state
  return { ...task, item: updateItem(task.item, item, renamed), state, isMissing: false }
}

/** Returns the present item of a task. A task that an agent has renamed keeps its title. */
function updateItem(before: ListItem, now: ListItem, renamed: ReadonlySet<string>): ListItem {
  const { key, label } = before
  return renamed.has(key) ? { ...before, isDone: now.isDone, after: now.after } : { ...now, key, label }
}

function renamedTasks({ renamed = {} }: Loop): ReadonlySet<string> {
  return new Set(Object.values(renamed))
}

function applyUserTick(task: LoopTask, at: Instant): LoopTask {
  const { item, state, tries } = task
  if (!item.isDone && state.name === 'done')
    return { ...task, state: { name: 'open' }, forgivenTries: tries.length, checkout: null }
  return applyTick(task, at)
}

function applyTick(task: LoopTask, at: Instant): LoopTask {
  const { item, state, tries } = task
  if (!item.isDone || state.name === 'done' || isInProgress(task)) return task
  return { ...task, state: { name: 'done', at, how: tries.length === 0 ? 'ticked before' : 'ticked by hand' } }
}

function markDropped(task: LoopTask): LoopTask {
  return task.state.name === 'done' || task.isMissing || isInProgress(task)
    ? task
    : { ...task, state: { name: 'dropped' } }
}

/**
 * An agent that adds more boxes than this writes no real list: the loop adopts the others only after a person resumes
 * it.
 */
const MAX_TAKEN_OVER = 100

/**
 * Reviews the list as a worker has left it in the user's checkout. Its ticks of other tasks prove nothing: the loop
 * unticks them, and verifies those tasks in their turn. A renamed task stays the same task; an added one records its
 * author. `restoreCommand`: restores the list from before the work.
 */
export function reviewListAfterWorker(
  loop: Loop,
  read: TaskList,
  worker: LoopTask,
  restoreCommand: string | null = null,
): Loop {
  const { list, loop: recognized } = recordRenamed(loop, mapToTaskKeys(read, loop))
  const after = markMissing(addNew(recognized, list, worker), list, worker, restoreCommand)
  const states = new Map(after.tasks.map(({ item, state }) => [item.key, state.name]))
  const wrong = list.items.filter(({ key, isDone }) => {
    const state = states.get(key)
    return state !== undefined && key !== worker.item.key && isDone !== (state === 'done')
  })
  const claimed = `ticked by ${describeAgent(loop, worker)}, which proves nothing`
  const marks = wrong.map(
    ({ key, isDone }): ItemMark => ({ key, isDone: !isDone, reason: isDone ? claimed : 'it was done already' }),
  )
  const keys = new Set(marks.map(({ key }) => key))
  return { ...after, marksToWrite: [...after.marksToWrite.filter(({ key }) => !keys.has(key)), ...marks] }
}

/** One agent at a time works in one checkout; all workers share a task tracker. */
function describeAgent({ tasks }: Loop, worker: LoopTask): string {
  const others = tasks.filter(task => task.state.name === 'working' && task.item.key !== worker.item.key)
  if (others.length === 0) return `the agent of task ${worker.item.label}`
  return `an agent of task ${[worker, ...others].map(({ item }) => item.label).join(' or ')}`
}

function recordRenamed(loop: Loop, list: TaskList): { loop: Loop; list: TaskList } {
  const pairs = matchRenamedItems(loop.tasks, list.items)
  if (pairs.size === 0) return { loop, list }
  const tasks = new Set([...pairs.values()].map(({ item }) => item.key))
  const others = Object.entries(loop.renamed ?? {}).filter(([, task]) => !tasks.has(task))
  const renamed = Object.fromEntries([...others, ...[...pairs].map(([key, { item }]) => [key, item.key] as const)])
  const named = { ...loop, renamed }
  return { loop: named, list: mapToTaskKeys(list, named) }
}

/** Returns the unfinished tasks that a worker has removed from the list. */
export function findRemovedTasks(loop: Loop, read: TaskList, worker: LoopTask): readonly LoopTask[] {
  const { list } = recordRenamed(loop, mapToTaskKeys(read, loop))
  return findGone(loop, list, worker)
}

function findGone({ tasks }: Loop, { items }: TaskList, worker: LoopTask): readonly LoopTask[] {
  const keys = new Set(items.map(({ key }) => key))
  return tasks.filter(
    ({ item, state, isMissing }) =>
      !isMissing && !keys.has(item.key) && item.key !== worker.item.key && !['done', 'dropped'].includes(state.name),
  )
}

/** The loop still works on tasks that a worker removed from the list. */
function markMissing(loop: Loop, list: TaskList, worker: LoopTask, restoreCommand: string | null): Loop {
  const keys = new Set(list.items.map(({ key }) => key))
  const gone = findGone(loop, list, worker)
  const tasks = loop.tasks.map(task => {
    if (gone.includes(task)) return { ...task, isMissing: true }
    return task.isMissing && keys.has(task.item.key) ? { ...task, isMissing: false } : task
  })
  if (gone.length === 0) return { ...loop, tasks }
  const labels = gone.map(({ item }) => item.label)
  const what = labels.length === 1 ? `task ${labels[0]}` : `tasks ${formatFew(labels)}`
  const hint = restoreCommand === null ? '' : `; \`${restoreCommand}\` brings the earlier list back`
  return addNotes({ ...loop, tasks }, [`${describeAgent(loop, worker)} removed ${what} from the list${hint}`])
}

/** Reports the tasks that a worker added, and adopts them up to a limit. */
function addNew(loop: Loop, list: TaskList, worker: LoopTask): Loop {
  const known = new Map(loop.tasks.map(task => [task.item.key, task]))
  const fresh = list.items.filter(({ key }) => !known.has(key))
  const labels = new LabelAllocator(loop.tasks)
  const by = describeAgent(loop, worker)
  const added = fresh
    .slice(0, MAX_TAKEN_OVER)
    .map((item): LoopTask => ({ ...newTask(...labels.next({ ...item, isDone: false })), addedBy: by }))
  const items = new Map(list.items.map(item => [item.key, item]))
  const renamed = renamedTasks(loop)
  const tasks = [...loop.tasks, ...added].map(task => {
    const item = items.get(task.item.key)
    return item === undefined ? task : { ...task, item: updateItem(task.item, item, renamed) }
  })
  const order = new Map(list.items.map(({ key }, at) => [key, at]))
  const placeOf = ({ item }: LoopTask): number => order.get(item.key) ?? list.items.length
  const sorted = { ...loop, tasks: tasks.toSorted((one, other) => placeOf(one) - placeOf(other)) }
  return added.length === 0 ? sorted : addNotes(sorted, [addedNote(added, fresh.length, by)])
}

/** Characters of a title in a sentence. */
const MAX_TITLE_LENGTH = 200

function addedNote(added: readonly LoopTask[], count: number, by: string): string {
  const labels = formatFew(added.map(({ item }) => item.label))
  if (count === 1) return `${by} added task ${labels} to the list: ${added[0]?.item.title.slice(0, MAX_TITLE_LENGTH)}`
  const left = count - added.length
  const rest = left === 0 ? '' : `; the loop ignores ${left} more that it added`
  return `${by} added ${added.length} tasks to the list: ${labels}${rest}`
}
