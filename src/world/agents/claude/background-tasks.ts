import type { Observation } from '../../../ports/agent.ts'
import { type JsonObject, asObject, asObjects, asString } from '../shared/tolerant-json.ts'
import { formatNote } from '../shared/transcript-lines.ts'
import { type ClaudeState, noResult, type EventResult } from './parser-state.ts'

/**
 * Background tasks keep the program alive after the end of a turn, and the end of a task begins another turn. Claude
 * Code 2.1.197 reports only the start and the end of tasks, and reports foreground calls in the same way; 2.1.325 also
 * lists the running tasks.
 */
export function taskStarted(event: JsonObject, state: ClaudeState): EventResult {
  const id = asString(event['task_id'])
  if (id === '' || state.tasks.includes(id) || event['is_backgrounded'] === false || isWatcher(event))
    return noResult(state)
  return updateTasks([...state.tasks, id], [event], state)
}

export function taskUpdated(event: JsonObject, state: ClaudeState): EventResult {
  const status = asString(asObject(event['patch'])['status'])
  return ENDED_STATUSES.has(status) ? removeTask(asString(event['task_id']), state) : noResult(state)
}

const ENDED_STATUSES = new Set(['completed', 'failed', 'killed', 'stopped'])

export function taskEnded(event: JsonObject, state: ClaudeState): EventResult {
  const seen = removeTask(asString(event['task_id']), state)
  // Within a turn, the tool call or the agent itself reports the end of a task.
  if (!state.hasEnded) return seen
  const status = asString(event['status'])
  const summary = asString(event['summary'])
  return { ...seen, text: formatNote(status === 'completed' ? summary : `background task ${status}: ${summary}`) }
}

export function tasksListed(event: JsonObject, state: ClaudeState): EventResult {
  const running = asObjects(event['tasks']).filter(task => !isWatcher(task) && task['off_host'] !== true)
  const ids = running.map(task => asString(task['task_id']))
  return updateTasks(ids, running, state)
}

/** Recognises a watcher, which may run for ever. */
function isWatcher(task: JsonObject): boolean {
  return task['ambient'] === true || task['skip_transcript'] === true
}

function removeTask(id: string, state: ClaudeState): EventResult {
  const others = state.tasks.filter(other => other !== id)
  return others.length === state.tasks.length ? noResult(state) : updateTasks(others, [], state)
}

function updateTasks(tasks: readonly string[], descriptions: readonly JsonObject[], state: ClaudeState): EventResult {
  const started = tasks.filter(id => !state.tasks.includes(id))
  const ended = state.tasks.filter(id => !tasks.includes(id))
  const turnResult = tasks.length === 0 && state.isHeld ? state.word : null
  const observations: Observation[] = [
    ...started.map(id => toolStarted(id, descriptions)),
    ...ended.map(id => ({ type: 'tool-ended' as const, id: toolCallId(id) })),
    ...(turnResult === null ? [] : [{ type: 'finished' as const, word: turnResult }]),
  ]
  return { observations, text: null, state: { ...state, tasks, isHeld: state.isHeld && tasks.length > 0 } }
}

function toolStarted(id: string, descriptions: readonly JsonObject[]): Observation {
  const summary = asString(descriptions.find(task => task['task_id'] === id)?.['description'])
  return { type: 'tool-started', id: toolCallId(id), tool: 'background', summary }
}

function toolCallId(task: string): string {
  return `task ${task}`
}
