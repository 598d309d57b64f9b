import type { Instant } from '../../lib/time.ts'

/** A piece of a session's work, as its agent plans it, its user names it, or a task tracker knows it. */
export interface Task {
  /** Of its source: a number, or `bd-a1b2`. */
  readonly id: string
  readonly title: string
  readonly state: 'open' | 'doing' | 'done'
  /** Who named it: the agent in its own plan, or a person (or the agent) by `oneshot tasks`. */
  readonly source: 'agent' | 'user'
}

/** What becomes of a task; null is as it was. */
export interface TaskChange {
  readonly id: string
  readonly title: string | null
  readonly state: Task['state'] | 'dropped' | null
}

/** A piece of work as the project's own task tracker knows it. */
export type Issue = Omit<Task, 'source'>

/** What a session last saw of its project's task tracker, and what it has carried over to it. */
export interface TrackerSnapshot {
  readonly kind: 'beads'
  readonly version: string
  readonly at: Instant
  /** Of the list below, whatever its order: the same as long as nothing has changed. */
  readonly hash: string
  /** What can be worked on, and what somebody is at. */
  readonly ready: readonly Issue[]
  /** Issues that this session has finished, and that need nothing more: closed, or found to be. */
  readonly settled: readonly string[]
}

/**
 * The issues that a session's finished tasks stand for and that are still to be closed. A task stands for an issue by its
 * id, or by a title that carries one: `bd-a1b2: write tests`. What a person has named by its id alone need not be among
 * the ready ones.
 */
export function finishedIssues(
  tasks: readonly Task[],
  { ready, settled }: Pick<TrackerSnapshot, 'ready' | 'settled'>,
): string[] {
  const known = ready.map(({ id }) => id)
  const finished = tasks.filter(({ state }) => state === 'done').flatMap(task => issuesOfTask(task, known))
  return [...new Set(finished)].filter(id => !settled.includes(id))
}

/** What remains settled: an issue whose task was opened again can be finished again. */
export function keepSettled(
  tasks: readonly Task[],
  { ready, settled }: Pick<TrackerSnapshot, 'ready' | 'settled'>,
): string[] {
  const finished = finishedIssues(tasks, { ready: [...ready, ...settled.map(unlistedIssue)], settled: [] })
  return settled.filter(id => finished.includes(id))
}

function unlistedIssue(id: string): Issue {
  return { id, title: '', state: 'done' }
}

function issuesOfTask({ id, title, source }: Task, known: readonly string[]): string[] {
  if (known.includes(id) || (source === 'user' && isIssueId(id))) return [id]
  const carried = known.filter(issue => indexOfIssue(title, issue) >= 0)
  return carried.length <= 1 ? carried : leadingIssues(title, carried)
}

/** Of several in one title, those that it begins with are the task; the others are only spoken of. */
function leadingIssues(title: string, carried: readonly string[]): string[] {
  const inOrder = carried.toSorted((a, b) => indexOfIssue(title, a) - indexOfIssue(title, b))
  const head: string[] = []
  let end = 0
  for (const issue of inOrder) {
    const place = indexOfIssue(title, issue)
    if (!/^(?:[^\p{L}\p{N}]|and)*$/u.test(title.slice(end, place))) break
    head.push(issue)
    end = place + issue.length
  }
  return head
}

/** Where a title carries this id as a word of its own; -1 when it does not. `bd-a1b2.1` is another than `bd-a1b2`. */
function indexOfIssue(title: string, issue: string): number {
  for (let place = title.indexOf(issue); place >= 0; place = title.indexOf(issue, place + 1)) {
    const before = title[place - 1] ?? ' '
    const after = title.slice(place + issue.length)
    if (!/[\w.-]/.test(before) && !/^(?:[\w-]|\.\w)/.test(after)) return place
  }
  return -1
}

/** Whether this word of a person's could be an issue's id: a prefix, a hyphen and more, such as `bd-a1b2` or `my.app-17.3`. */
export function isIssueId(word: string): boolean {
  return isSafeIssueId(word) && /[a-z]/i.test(word) && /[^-]-+\w/.test(word)
}

/** Whether it can be handed to a program and found in a text, whoever has made it up: a prefix is the name of a folder. */
export function isSafeIssueId(word: string): boolean {
  return /^[a-z0-9][\w.-]{0,63}$/i.test(word)
}
