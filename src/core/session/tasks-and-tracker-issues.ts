import type { Instant } from '../../lib/time.ts'

/** A piece of a session's work. Its agent plans it, its user names it, or a task tracker lists it. */
export interface Task {
  /** The id that its source gave it: a number, or `bd-a1b2`. */
  readonly id: string
  readonly title: string
  readonly state: 'open' | 'doing' | 'done'
  /** `agent`: the agent's own plan names it. `user`: a person (or the agent) named it by `oneshot tasks`. */
  readonly source: 'agent' | 'user'
}

/** A change of a task; a null field is unchanged. */
export interface TaskChange {
  readonly id: string
  readonly title: string | null
  readonly state: Task['state'] | 'dropped' | null
}

/** A task in the project's own task tracker. */
export type Issue = Omit<Task, 'source'>

/** The last state of the project's task tracker that a session saw, and the issues that the session closed in it. */
export interface TrackerSnapshot {
  readonly kind: 'beads'
  readonly version: string
  readonly at: Instant
  /** A hash of the list below, independent of its order. It is equal as long as nothing has changed. */
  readonly hash: string
  /** The issues that are ready or in progress. */
  readonly ready: readonly Issue[]
  /** The finished issues of this session that need no further action: it closed them, or found them closed. */
  readonly settled: readonly string[]
}

/**
 * Returns the issues to close, because finished tasks of the session stand for them. A task stands for an issue by its
 * id, or by a title that contains the id: `bd-a1b2: write tests`. An issue that a person named by its id need not be
 * among the ready ones.
 */
export function finishedIssues(
  tasks: readonly Task[],
  { ready, settled }: Pick<TrackerSnapshot, 'ready' | 'settled'>,
): string[] {
  const known = ready.map(({ id }) => id)
  const finished = tasks.filter(({ state }) => state === 'done').flatMap(task => issuesOfTask(task, known))
  return [...new Set(finished)].filter(id => !settled.includes(id))
}

/** Returns the issues that remain settled. A task that somebody reopens can finish its issue again. */
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

/** Returns the issues at the start of a title with several ids. The title only mentions the others. */
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

/**
 * Returns the position at which a title contains this id as a word of its own, or -1. `bd-a1b2.1` differs from
 * `bd-a1b2`.
 */
function indexOfIssue(title: string, issue: string): number {
  for (let place = title.indexOf(issue); place >= 0; place = title.indexOf(issue, place + 1)) {
    const before = title[place - 1] ?? ' '
    const after = title.slice(place + issue.length)
    if (!/[\w.-]/.test(before) && !/^(?:[\w-]|\.\w)/.test(after)) return place
  }
  return -1
}

/**
 * Returns true if a person's word can be an issue's id: a prefix, a hyphen and more, such as `bd-a1b2` or
 * `my.app-17.3`.
 */
export function isIssueId(word: string): boolean {
  return isSafeIssueId(word) && /[a-z]/i.test(word) && /[^-]-+\w/.test(word)
}

/**
 * Returns true if a program can safely get the word as an argument and a text search can find it. Anybody can choose
 * the prefix: it is the name of a folder.
 */
export function isSafeIssueId(word: string): boolean {
  return /^[a-z0-9][\w.-]{0,63}$/i.test(word)
}
