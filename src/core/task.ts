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
export interface Change {
  readonly id: string
  readonly title: string | null
  readonly state: Task['state'] | 'dropped' | null
}
