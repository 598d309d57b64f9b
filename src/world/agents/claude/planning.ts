import type { News } from '../../../core/signals.ts'
import type { Observation } from '../../../ports/agent.ts'
import { type Json, json, jsons, text } from '../json.ts'
import { planOf, stateOf } from '../plan-of.ts'

/**
 * Its ways to keep a plan: TodoWrite, which tells it in whole, or in its place (2.1, unless CLAUDE_CODE_ENABLE_TASKS=0) tasks
 * with numbers of their own, which outlive a resume. 2.1.325 offers neither to its newest models, unless
 * CLAUDE_CODE_ENABLE_TODO_TOOLS=1.
 */
const PLANNERS = new Set(['TodoWrite', 'TaskCreate', 'TaskUpdate', 'TaskGet', 'TaskList'])

/** What is to be kept of a call until it is answered; null when it has nothing to do with a plan. */
export function planningCall(id: string, tool: string, input: Json): string | null {
  return PLANNERS.has(tool) ? JSON.stringify([id, text(input['subject'])]) : null
}

export function isCall(call: string, id: string): boolean {
  return (JSON.parse(call) as [id: string])[0] === id
}

/** What the answer to such a call says about the plan. */
export function planIn(call: string, result: unknown): Observation[] {
  const { newTodos, tasks, task, taskId, success, statusChange } = json(result)
  if (Array.isArray(newTodos)) return [planOf(jsons(newTodos), 'content')]
  if (Array.isArray(tasks)) return [{ type: 'planned', tasks: jsons(tasks).flatMap(listed) }]
  const { subject: title, status = 'pending' } = json(task)
  if (text(json(task)['id']) !== '') return replanned(json(task), title, status)
  if (success !== true) return []
  const [, subject] = JSON.parse(call) as [id: string, subject: string]
  return replanned({ id: taskId }, subject, json(statusChange)['to'])
}

function replanned({ id }: Json, subject: unknown, status: unknown): Observation[] {
  if (text(id) === '') return []
  const state = status === undefined ? null : (stateOf(status) ?? 'dropped')
  return [{ type: 'replanned', tasks: [{ id: text(id), title: text(subject) || null, state }] }]
}

function listed(task: Json): Extract<News, { type: 'planned' }>['tasks'] {
  const state = stateOf(task['status'])
  const id = text(task['id'])
  return id === '' || state === null ? [] : [{ id, title: text(task['subject']), state }]
}
