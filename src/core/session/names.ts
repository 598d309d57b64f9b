/** Ids are made by us, become parts of paths and refs, and are read back from where others write: nothing else is one. */
const SESSION_ID = /^[a-z0-9]{1,20}$/

export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text)
}

/** tmux reads `.` and `:` in a target, people type names: lower case, digits and hyphens only. */
export const TASK_NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

export function isTaskName(text: string): boolean {
  return TASK_NAME.test(text)
}

/** The session's name: the agent's, then the task's, unless the task already says it. */
export function sessionName(agent: string, task: string): string {
  return task.startsWith(`${agent}-`) ? task : `${agent}-${task}`
}

/** The first of `name`, `name-2`, `name-3` … that is free. */
export function findFreeName(name: string, isTaken: (candidate: string) => boolean): string {
  let candidate = name
  for (let n = 2; isTaken(candidate); n++) candidate = `${name}-${n}`
  return candidate
}
