import { InvalidData, type Parser } from '../../lib/codec.ts'

/**
 * oneshot makes the ids. They become parts of paths and refs, and oneshot reads them back from places where others
 * write, so it accepts nothing else as an id.
 */
const SESSION_ID = /^[a-z0-9]{1,20}$/

declare const brand: unique symbol

/** The id of a session. Only checked text is one, so that no other text becomes part of a path or a ref. */
export type SessionId = string & { readonly [brand]: 'session id' }

export function isSessionId(text: string): text is SessionId {
  return SESSION_ID.test(text)
}

export const sessionId: Parser<SessionId> = value => {
  if (typeof value !== 'string' || !isSessionId(value)) throw new InvalidData('it is not the id of a session')
  return value
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

/** Up to this number the search tries every one; then it doubles, so that ten thousand used names cost 30 lookups. */
const SMALL_NUMBER = 16

/** Returns a free name of `name`, `name-2`, `name-3` …: the first one, unless there are many gaps. */
export function findFreeName(name: string, isTaken: (candidate: string) => boolean): string {
  const numbered = (n: number): string => (n === 1 ? name : `${name}-${n}`)
  let taken = 0
  let free = 1
  while (isTaken(numbered(free))) {
    taken = free
    free = free < SMALL_NUMBER ? free + 1 : free * 2
  }
  while (free - taken > 1) {
    const middle = Math.floor((taken + free) / 2)
    if (isTaken(numbered(middle))) taken = middle
    else free = middle
  }
  return numbered(free)
}
