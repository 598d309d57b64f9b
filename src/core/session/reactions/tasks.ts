import { maskAndTruncate } from '../../../lib/mask/mask.ts'
import { toOneLine } from '../../../lib/text/strip-terminal-controls.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Event } from '../events.ts'
import type { Session } from '../session-state.ts'
import type { SignalOf } from '../signals.ts'
import { unchanged, type Decision, makeDecision } from '../decision.ts'
import type { TaskChange, Task } from '../tasks-and-tracker-issues.ts'

/** A longer plan has no use for a reader. */
export const MAX_TASKS = 200
const LONGEST_TITLE = 300

type TaskInput = Omit<Task, 'source'>

/**
 * Replaces the agent's plan, because the agent reports the whole plan each time. Drops tasks that the new plan leaves
 * out, except finished ones.
 */
export function replacePlan(session: Session, tasks: readonly TaskInput[], at: Instant): Decision {
  const plan = tasks.map(task => normalizeTask(task, 'agent'))
  const kept = session.tasks.filter(
    task => task.source === 'user' || (task.state === 'done' && !plan.some(({ id }) => id === task.id)),
  )
  return withTasks(session, [...kept, ...plan], at)
}

/**
 * Applies the changes of an agent that numbers its tasks and reports only changes. Adds tasks that it did not report
 * before.
 */
export function updatePlan(session: Session, changes: readonly TaskChange[], at: Instant): Decision {
  return withTasks(session, changes.reduce(applyTaskChange, session.tasks), at)
}

function applyTaskChange(tasks: readonly Task[], { id, title, state }: TaskChange): readonly Task[] {
  const before = tasks.find(task => task.id === id && task.source === 'agent')
  if (state === 'dropped') return tasks.filter(task => task !== before)
  const updated = { id, title: title ?? before?.title ?? `task ${id}`, state: state ?? before?.state ?? 'open' }
  const task = normalizeTask(updated, 'agent')
  return before === undefined ? [...tasks, task] : tasks.map(other => (other === before ? task : other))
}

/** Adds the tasks that a person names; an id that exists already changes that task. */
export function setUserTasks(session: Session, { at, tasks }: SignalOf<'user.tasks'>): Decision {
  const named = tasks.map(task => normalizeTask(task, 'user'))
  const isNew = ({ id }: Task): boolean => !session.tasks.some(task => task.id === id)
  const kept = session.tasks.map(task => {
    const change = named.find(({ id }) => id === task.id)
    return change === undefined ? task : { ...change, source: task.source }
  })
  return withTasks(session, [...kept, ...named.filter(isNew)], at)
}

function withTasks(session: Session, tasks: readonly Task[], at: Instant): Decision {
  const within = limitTasks(MAX_TASKS, tasks)
  const events = within.flatMap((task): Event[] => {
    const before = session.tasks.find(({ id, source }) => id === task.id && source === task.source)
    const isSame = before?.state === task.state && before.title === task.title
    return isSame ? [] : [{ at, type: 'task.changed', task }]
  })
  const isSame = events.length === 0 && within.length === session.tasks.length
  return isSame ? unchanged(session) : makeDecision({ ...session, tasks: within }, events)
}

/** Drops the agent's oldest finished tasks first; open tasks stay. */
function limitTasks(limit: number, tasks: readonly Task[]): readonly Task[] {
  let surplus = tasks.length - limit
  const kept = tasks.filter(({ source, state }) => source !== 'agent' || state !== 'done' || surplus-- <= 0)
  return kept.slice(0, limit)
}

function normalizeTask({ id, title, state }: TaskInput, source: Task['source']): Task {
  return { id: toOneLine(id).slice(0, 64), title: maskAndTruncate(toOneLine(title), LONGEST_TITLE), state, source }
}
