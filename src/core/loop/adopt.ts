import type { Instant } from '../../lib/time.ts'
import { marked, newTask, withNotes } from './change.ts'
import type { Item, ItemList } from './item.ts'
import { isAtWork, type Loop, type LoopTask } from './loop.ts'

/** Takes over the list as it is while no agent is at work: what is ticked or unticked in it, a person wanted so. */
export function adopt(loop: Loop, list: ItemList, at: Instant): Loop {
  const known = new Map(loop.tasks.map(task => [task.item.key, task]))
  // What is still to be written there counts as written.
  const marks = new Map(loop.toMark.map(mark => [mark.key, mark.isDone]))
  // While an agent is at work in the same files, nobody knows who has changed what: it is looked at when that is judged.
  const isInDoubt = loop.marking === 'here' && loop.tasks.some(isAtWork)
  let number = loop.tasks.reduce((most, task) => Math.max(most, task.number), 0)
  const listed = list.items.map(read => {
    const item = { ...read, isDone: marks.get(read.key) ?? read.isDone }
    const task = found(known.get(item.key) ?? newTask(item, ++number), item)
    if (isInDoubt) return task
    return loop.marking === 'here' ? byHand(task, at) : ticked(task, at)
  })
  const keys = new Set(list.items.map(({ key }) => key))
  const gone = loop.tasks.filter(({ item }) => !keys.has(item.key))
  const tasks = [...listed, ...(isInDoubt ? gone : gone.map(dropped))]
  const lost = tasks.filter(
    ({ item, stand }) => stand.name === 'dropped' && known.get(item.key)?.stand.name !== 'dropped',
  )
  const notes = lost.map(({ item }) => `task ${item.label} is no longer in the list: ${item.title}`)
  return withNotes({ ...loop, tasks }, [...list.objections, ...notes])
}

/** It is in the list, again where it was not. */
function found(task: LoopTask, item: Item): LoopTask {
  const stand = task.stand.name === 'dropped' ? ({ name: 'open' } as const) : task.stand
  return { ...task, item, stand, isMissing: false }
}

function byHand(task: LoopTask, at: Instant): LoopTask {
  const { item, stand, tries } = task
  if (!item.isDone && stand.name === 'done')
    return { ...task, stand: { name: 'open' }, pardoned: tries.length, place: null }
  return ticked(task, at)
}

function ticked(task: LoopTask, at: Instant): LoopTask {
  const { item, stand, tries } = task
  if (!item.isDone || stand.name === 'done' || isAtWork(task)) return task
  return { ...task, stand: { name: 'done', at, how: tries.length === 0 ? 'ticked before' : 'ticked by hand' } }
}

function dropped(task: LoopTask): LoopTask {
  return task.stand.name === 'done' || task.isMissing || isAtWork(task) ? task : { ...task, stand: { name: 'dropped' } }
}

/**
 * Looks at the list as a worker has left it in the user's checkout. What it has ticked beside its own task proves nothing: that is
 * unticked, and looked at in its turn.
 */
export function review(loop: Loop, list: ItemList, worker: LoopTask): Loop {
  let after = missed(addNew(loop, list), list, worker)
  for (const item of list.items) {
    const task = after.tasks.find(one => one.item.key === item.key)
    if (task === undefined || item.key === worker.item.key || item.isDone === (task.stand.name === 'done')) continue
    const reason = item.isDone
      ? `ticked by the agent of task ${worker.item.label}, which proves nothing`
      : 'it was done already'
    after = marked(after, item.key, !item.isDone, reason)
  }
  return after
}

/** What a worker has taken out of the list is to be done all the same. */
function missed(loop: Loop, { items }: ItemList, worker: LoopTask): Loop {
  const keys = new Set(items.map(({ key }) => key))
  const isGone = ({ item, stand }: LoopTask): boolean =>
    !keys.has(item.key) && item.key !== worker.item.key && !['done', 'dropped'].includes(stand.name)
  const gone = loop.tasks.filter(isGone)
  const note = ({ item }: LoopTask): string =>
    `the agent of task ${worker.item.label} has taken task ${item.label} out of the list`
  const tasks = loop.tasks.map(task => (isGone(task) ? { ...task, isMissing: true } : task))
  return gone.length === 0 ? loop : withNotes({ ...loop, tasks }, gone.map(note))
}

/** What a worker has added to the list is to be done as well. */
function addNew(loop: Loop, list: ItemList): Loop {
  const known = new Set(loop.tasks.map(({ item }) => item.key))
  const fresh = list.items.filter(({ key }) => !known.has(key))
  const most = loop.tasks.reduce((highest, task) => Math.max(highest, task.number), 0)
  const added = fresh.map((item, at) => newTask({ ...item, isDone: false }, most + 1 + at))
  const items = new Map(list.items.map(item => [item.key, item]))
  const tasks = [...loop.tasks, ...added].map(task => ({ ...task, item: items.get(task.item.key) ?? task.item }))
  const order = new Map(list.items.map(({ key }, at) => [key, at]))
  const placeOf = ({ item }: LoopTask): number => order.get(item.key) ?? list.items.length
  return { ...loop, tasks: tasks.toSorted((one, other) => placeOf(one) - placeOf(other)) }
}
