import crypto from 'node:crypto'
import type { Task } from '../../core/task.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import type { Observation } from '../../ports/agent.ts'
import { type Json, text } from './json.ts'

/**
 * A plan whose steps have no ids of their own, as a program tells it in whole. A step is known by its words, so that it is
 * the same one however often the plan is told, in whatever order and by whichever attempt. One that was called off is left out.
 */
export function planOf(steps: readonly Json[], words: string): Observation {
  const seen = new Map<string, number>()
  const tasks = steps.flatMap(step => {
    const title = oneLine(text(step[words]))
    const state = stateOf(step['status'])
    if (title === '' || state === null) return []
    const count = (seen.get(title) ?? 0) + 1
    seen.set(title, count)
    return [{ id: count === 1 ? idOf(title) : `${idOf(title)}-${count}`, title, state }]
  })
  return { type: 'planned', tasks }
}

/** Null for what is not meant any more. Every program we know uses some of the same words. */
export function stateOf(status: unknown): Task['state'] | null {
  if (status === 'cancelled' || status === 'deleted') return null
  if (status === 'completed') return 'done'
  return status === 'in_progress' ? 'doing' : 'open'
}

/** Five letters and digits. */
function idOf(title: string): string {
  const hash = crypto.createHash('sha256').update(title).digest('hex')
  return (Number.parseInt(hash.slice(0, 12), 16) % 36 ** 5).toString(36).padStart(5, '0')
}
