import type { Instant } from '../../lib/time.ts'
import { NOTHING_SPENT } from '../spending.ts'
import type { Item } from './item.ts'
import type { Loop, LoopTask, Role, Span, Try } from './loop.ts'

export function taskOf(loop: Loop, key: string): LoopTask | undefined {
  return loop.tasks.find(({ item }) => item.key === key)
}

/** The loop with one task changed. */
export function withTask(loop: Loop, key: string, change: (task: LoopTask) => LoopTask): Loop {
  return { ...loop, tasks: loop.tasks.map(task => (task.item.key === key ? change(task) : task)) }
}

/** The task with its newest try changed. */
export function withTry(task: LoopTask, change: Partial<Try>): LoopTask {
  return { ...task, tries: withLast(task.tries, change) }
}

export function withLast(tries: readonly Try[], change: Partial<Try>): readonly Try[] {
  return tries.map((one, at) => (at === tries.length - 1 ? { ...one, ...change } : one))
}

/** The task whose newest try was interrupted by a stop of the loop. */
export function withStop(task: LoopTask, stop: Span): LoopTask {
  return withTry(task, { stops: [...(task.tries.at(-1)?.stops ?? []), stop] })
}

export function newTry(iteration: number, role: Role, since: Instant): Try {
  return { iteration, role, session: null, since, until: null, spent: NOTHING_SPENT, flaw: null, verdict: null }
}

export function newTask(item: Item, number: number): LoopTask {
  return {
    item,
    stand: { name: 'open' },
    tries: [],
    place: null,
    resolution: null,
    evidence: null,
    clash: [],
    number,
    pardoned: 0,
    isMissing: false,
    isCleared: true,
  }
}

/** One sentence more, unless it was said already. */
export function withNotes(loop: Loop, notes: readonly string[]): Loop {
  const fresh = notes.filter(note => !loop.notes.includes(note))
  return fresh.length === 0 ? loop : { ...loop, notes: [...loop.notes, ...fresh] }
}

/** What its box should be. */
export function marked(loop: Loop, key: string, isDone: boolean, reason: string): Loop {
  return { ...loop, toMark: [...loop.toMark.filter(mark => mark.key !== key), { key, isDone, reason }] }
}
