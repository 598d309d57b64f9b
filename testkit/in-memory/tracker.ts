import crypto from 'node:crypto'
import type { Issue, TrackerSnapshot } from '../../src/core/session/tasks-and-tracker-issues.ts'
import type { Tracker } from '../../src/ports/tracker.ts'

/** A project's task tracker and the snapshots of it. It outlives the supervisors. */
export class InMemoryBeads {
  /** The folder of its list; null for a project without a tracker. */
  root: string | null = null
  issues: Issue[] = []
  /** Each closing of an open issue, with the reason. */
  readonly closed: string[] = []
  /** Calls, in order. */
  readonly calls: string[] = []
  /** Number of times it saved its data. */
  synced = 0
  readonly snapshots = new Map<string, string>()
  /** A test sets this function to delay or fail a call. */
  obstacle: (call: string) => Promise<void> | void = () => undefined

  state(id: string): Issue['state'] | undefined {
    return this.issues.find(issue => issue.id === id)?.state
  }

  set(id: string, state: Issue['state']): void {
    this.issues = this.issues.map(issue => (issue.id === id ? { ...issue, state } : issue))
  }
}

export function inMemoryTracker(beads: InMemoryBeads): Tracker {
  const called = async (call: string): Promise<void> => {
    beads.calls.push(call)
    await beads.obstacle(call)
  }
  return {
    kind: 'beads',
    findRoot: () => beads.root,
    version: async () => {
      await called('version')
      return '1.0.5'
    },
    sync: async () => {
      await called('sync')
      beads.synced++
    },
    readyIssues: async () => {
      await called('ready')
      const inState = (state: Issue['state']): Issue[] => beads.issues.filter(issue => issue.state === state)
      return [...inState('doing'), ...inState('open')]
    },
    findIssue: async (_, id) => {
      await called(`show ${id}`)
      return beads.issues.find(issue => issue.id === id) ?? null
    },
    closeIssue: async (_, id, reason) => {
      await called(`close ${id}`)
      if (beads.state(id) !== 'done') beads.closed.push(`${id} ${reason}`)
      beads.set(id, 'done')
    },
    loadSnapshot: sessionId => {
      const text = beads.snapshots.get(sessionId)
      return text === undefined ? null : (JSON.parse(text) as TrackerSnapshot)
    },
    saveSnapshot: (sessionId, seen) => {
      const hash = crypto.createHash('sha256').update(JSON.stringify(seen.ready)).digest('hex')
      beads.snapshots.set(sessionId, JSON.stringify({ kind: 'beads', hash, ...seen }))
    },
  }
}
