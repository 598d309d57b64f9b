/**
 * oneshot makes the ids. They become parts of paths and refs, and oneshot reads them back from places where others
 * write, so it accepts nothing else as an id.
 */
const SESSION_ID = /^[a-z0-9]{1,20}$/

export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text)
}

/** tmux interprets `.` and `:` in a target, and people type names: lower case, digits and hyphens only. */
export const TASK_NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

export function isTaskName(text: string): boolean {
  return TASK_NAME.test(text)
}

/** Returns the session's name: the agent's, then the task's, unless the task already starts with the agent's. */
export function sessionName(agent: string, task: string): string {
  return task.startsWith(`${agent}-`) ? task : `${agent}-${task}`
}

/** Returns the first free name of `name`, `name-2`, `name-3` … */
export function findFreeName(name: string, isTaken: (candidate: string) => boolean): string {
  let candidate = name
  for (let n = 2; isTaken(candidate); n++) candidate = `${name}-${n}`
  return candidate
}
