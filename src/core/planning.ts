import { oneLine } from '../lib/terminal-text.ts'
import type { Instant } from '../lib/time.ts'
import type { Event } from './events.ts'
import type { Session } from './session.ts'
import type { SignalOf } from './signals.ts'
import { nothing, type Step, step } from './step.ts'
import type { Task } from './task.ts'

/** A plan longer than this is no plan. */
const MOST_TASKS = 200
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
  const within = tasks.slice(0, MOST_TASKS)
  const events = within.flatMap((task): Event[] => {
    const before = session.tasks.find(({ id, source }) => id === task.id && source === task.source)
    const isSame = before?.state === task.state && before.title === task.title
    return isSame ? [] : [{ at, type: 'task.changed', task }]
  })
  const isSame = events.length === 0 && within.length === session.tasks.length
  return isSame ? nothing(session) : step({ ...session, tasks: within }, events)
}

function tidy({ id, title, state }: Named, source: Task['source']): Task {
  return { id: oneLine(id).slice(0, 64), title: oneLine(title).slice(0, LONGEST_TITLE), state, source }
}
