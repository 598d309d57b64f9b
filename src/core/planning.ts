import { cut } from '../lib/mask/cut.ts'
import { oneLine } from '../lib/terminal-text.ts'
import type { Instant } from '../lib/time.ts'
import type { Event } from './events.ts'
import type { Session } from './session.ts'
import type { SignalOf } from './signals.ts'
import { nothing, type Step, step } from './step.ts'
import type { Change, Task } from './task.ts'

/** A plan longer than this is no plan. */
export const MOST_TASKS = 200
const LONGEST_TITLE = 300

type Named = Omit<Task, 'source'>

/** An agent tells its whole plan each time: what it leaves out is no longer meant, but what was done was done. */
export function planned(session: Session, tasks: readonly Named[], at: Instant): Step {
  const plan = tasks.map(task => tidy(task, 'agent'))
  const kept = session.tasks.filter(
    task => task.source === 'user' || (task.state === 'done' && !plan.some(({ id }) => id === task.id)),
  )
  return changed(session, [...kept, ...plan], at)
}

/** An agent that numbers its tasks tells only what has changed. What it did not tell us of is taken as it comes. */
export function replanned(session: Session, changes: readonly Change[], at: Instant): Step {
  return changed(session, changes.reduce(withChange, session.tasks), at)
}

function withChange(tasks: readonly Task[], { id, title, state }: Change): readonly Task[] {
  const before = tasks.find(task => task.id === id && task.source === 'agent')
  if (state === 'dropped') return tasks.filter(task => task !== before)
  const told = { id, title: title ?? before?.title ?? `task ${id}`, state: state ?? before?.state ?? 'open' }
  const task = tidy(told, 'agent')
  return before === undefined ? [...tasks, task] : tasks.map(other => (other === before ? task : other))
}

/** What a person names is added to, or changes what has the same id. */
export function nameTasks(session: Session, { at, tasks }: SignalOf<'user.tasks'>): Step {
  const named = tasks.map(task => tidy(task, 'user'))
  const isNew = ({ id }: Task): boolean => !session.tasks.some(task => task.id === id)
  const kept = session.tasks.map(task => {
    const change = named.find(({ id }) => id === task.id)
    return change === undefined ? task : { ...change, source: task.source }
  })
  return changed(session, [...kept, ...named.filter(isNew)], at)
}

function changed(session: Session, tasks: readonly Task[], at: Instant): Step {
  const within = atMost(MOST_TASKS, tasks)
  const events = within.flatMap((task): Event[] => {
    const before = session.tasks.find(({ id, source }) => id === task.id && source === task.source)
    const isSame = before?.state === task.state && before.title === task.title
    return isSame ? [] : [{ at, type: 'task.changed', task }]
  })
  const isSame = events.length === 0 && within.length === session.tasks.length
  return isSame ? nothing(session) : step({ ...session, tasks: within }, events)
}

/** What an agent has done goes first, the oldest before the rest: what is still to be done stays. */
function atMost(limit: number, tasks: readonly Task[]): readonly Task[] {
  let surplus = tasks.length - limit
  const kept = tasks.filter(({ source, state }) => source !== 'agent' || state !== 'done' || surplus-- <= 0)
  return kept.slice(0, limit)
}

function tidy({ id, title, state }: Named, source: Task['source']): Task {
  return { id: oneLine(id).slice(0, 64), title: cut(oneLine(title), LONGEST_TITLE), state, source }
}
