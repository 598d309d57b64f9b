import crypto from 'node:crypto'
import type { Task } from '../../../core/session/task.ts'
import { toOneLine } from '../../../lib/text/terminal-text.ts'
import type { Observation } from '../../../ports/agent.ts'
import { type JsonObject, asString } from './json.ts'

/**
 * A plan whose steps have no ids of their own, as a program tells it in whole. A step is known by its words, so that it is
 * the same one however often the plan is told, in whatever order and by whichever attempt. One that was called off is left out.
 */
export function plannedTasks(steps: readonly JsonObject[], titleField: string): Observation {
  const seen = new Map<string, number>()
  const tasks = steps.flatMap(step => {
    const title = toOneLine(asString(step[titleField]))
    const state = taskState(step['status'])
    if (title === '' || state === null) return []
    const count = (seen.get(title) ?? 0) + 1
    seen.set(title, count)
    return [{ id: count === 1 ? taskIdFor(title) : `${taskIdFor(title)}-${count}`, title, state }]
  })
  return { type: 'planned', tasks }
}

/** Null for what is not meant any more. Every program we know uses some of the same words. */
export function taskState(status: unknown): Task['state'] | null {
  if (status === 'cancelled' || status === 'deleted') return null
  if (status === 'completed') return 'done'
  return status === 'in_progress' ? 'doing' : 'open'
}

/** Five letters and digits. */
function taskIdFor(title: string): string {
  const hash = crypto.createHash('sha256').update(title).digest('hex')
  return (Number.parseInt(hash.slice(0, 12), 16) % 36 ** 5).toString(36).padStart(5, '0')
}
