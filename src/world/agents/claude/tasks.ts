import type { Observation } from '../../../ports/agent.ts'
import { type Json, json, jsons, text } from '../json.ts'
import { noted } from '../telling.ts'
import { type Mind, nothing, type Seen, wordOf } from './mind.ts'

/**
 * Background tasks keep the program alive after the end of a turn, and the end of a task begins another. 2.1.197 tells only
 * their beginning and end, and those of calls in the foreground alike; 2.1.325 also lists those that run.
 */
export function taskStarted(event: Json, mind: Mind): Seen {
  const id = text(event['task_id'])
  if (id === '' || mind.tasks.includes(id) || event['is_backgrounded'] === false || isNoWork(event))
    return nothing(mind)
  return changed([...mind.tasks, id], [event], mind)
}

export function taskUpdated(event: Json, mind: Mind): Seen {
  const status = text(json(event['patch'])['status'])
  return OVER.has(status) ? without(text(event['task_id']), mind) : nothing(mind)
}

const OVER = new Set(['completed', 'failed', 'killed', 'stopped'])

export function taskEnded(event: Json, mind: Mind): Seen {
  const seen = without(text(event['task_id']), mind)
  // What ends within a turn is told by its call, or by the agent itself.
  if (!mind.hasEnded) return seen
  const status = text(event['status'])
  const summary = text(event['summary'])
  return { ...seen, text: noted(status === 'completed' ? summary : `background task ${status}: ${summary}`) }
}

export function tasksListed(event: Json, mind: Mind): Seen {
  const running = jsons(event['tasks']).filter(task => !isNoWork(task) && task['off_host'] !== true)
  const ids = running.map(task => text(task['task_id']))
  return changed(ids, running, mind)
}

/** A watcher, which may run for ever. */
function isNoWork(task: Json): boolean {
  return task['ambient'] === true || task['skip_transcript'] === true
}

function without(id: string, mind: Mind): Seen {
  const others = mind.tasks.filter(other => other !== id)
  return others.length === mind.tasks.length ? nothing(mind) : changed(others, [], mind)
}

function changed(tasks: readonly string[], about: readonly Json[], mind: Mind): Seen {
  const started = tasks.filter(id => !mind.tasks.includes(id))
  const ended = mind.tasks.filter(id => !tasks.includes(id))
  const word = tasks.length === 0 && mind.isHeld ? wordOf(mind) : null
  const observations: Observation[] = [
    ...started.map(id => begun(id, about)),
    ...ended.map(id => ({ type: 'tool-ended' as const, id: callOf(id) })),
    ...(word === null ? [] : [{ type: 'finished' as const, word }]),
  ]
  return { observations, text: null, mind: { ...mind, tasks, isHeld: mind.isHeld && tasks.length > 0 } }
}

function begun(id: string, about: readonly Json[]): Observation {
  const gist = text(about.find(task => task['task_id'] === id)?.['description'])
  return { type: 'tool-started', id: callOf(id), tool: 'background', gist }
}

function callOf(task: string): string {
  return `task ${task}`
}
