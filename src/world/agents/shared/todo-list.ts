import crypto from 'node:crypto'
import type { Task } from '../../../core/session/tasks-and-tracker-issues.ts'
import { toOneLine } from '../../../lib/text/strip-terminal-controls.ts'
import type { Observation } from '../../../ports/agent.ts'
import { type JsonObject, asString } from './tolerant-json.ts'

/**
 * Reads a whole plan whose steps have no ids of their own. The text of a step identifies it, so that it stays the same
 * step in every report, order and attempt. It leaves out cancelled steps.
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

/** Returns null for a cancelled task. All known programs use some of the same words. */
export function taskState(status: unknown): Task['state'] | null {
  if (status === 'cancelled' || status === 'deleted') return null
  if (status === 'completed') return 'done'
  return status === 'in_progress' ? 'doing' : 'open'
}

/** Returns five letters and digits. */
function taskIdFor(title: string): string {
  const hash = crypto.createHash('sha256').update(title).digest('hex')
  return (Number.parseInt(hash.slice(0, 12), 16) % 36 ** 5).toString(36).padStart(5, '0')
}
