import { refusal } from '../../api/contract/problems.ts'
import type { TasksRequest } from '../../api/contract/requests.ts'
import { nearest } from '../../lib/nearest.ts'
import { TASK_ACTIONS } from '../table/converse.ts'

/** What a line of `oneshot tasks` asks for. */
export interface Order {
  /** The session's name; undefined means the one we are in, or this directory's. */
  readonly name: string | undefined
  /** Undefined for a look at the list. */
  readonly request: TasksRequest | undefined
}

/** Tells a session's name and an action apart: no session has an action's name, because its agent is part of it. */
export function orderOf(words: readonly string[]): Order {
  const name = isAction(words[0]) ? undefined : words[0]
  const [action, ...rest] = name === undefined ? words : words.slice(1)
  if (action === undefined) return { name, request: undefined }
  if (!isAction(action)) throw unknown(action, name)
  return { name, request: requestOf(action, rest) }
}

function requestOf(action: (typeof TASK_ACTIONS)[number], rest: readonly string[]): TasksRequest {
  if (action !== 'add') {
    if (rest.length === 0) throw refusal('usage', `tasks ${action} needs the id of a task`, 'oneshot tasks shows them')
    return { action, ids: rest }
  }
  const title = rest.join(' ').trim()
  if (title === '') throw refusal('usage', 'tasks add needs a title', 'oneshot tasks add "write the tests"')
  return { action, titles: [title] }
}

function unknown(word: string, name: string | undefined): ReturnType<typeof refusal> {
  const meant = nearest(word, TASK_ACTIONS)
  const hint = meant === undefined ? `one of ${TASK_ACTIONS.join(', ')}` : `did you mean ${meant}?`
  return refusal('usage', `tasks ${name ?? ''} cannot ${JSON.stringify(word)}`.replace('  ', ' '), hint)
}

function isAction(word: string | undefined): word is (typeof TASK_ACTIONS)[number] {
  return TASK_ACTIONS.some(action => action === word)
}
