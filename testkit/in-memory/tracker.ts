import crypto from 'node:crypto'
import type { Issue, TrackerSnapshot } from '../../src/core/session/task.ts'
import type { Tracker } from '../../src/ports/tracker.ts'

/** A project's task tracker, and what was written down about it. It outlives the supervisors that visit it. */
export class InMemoryBeads {
  /** Where its list lies; null for a project without one. */
  root: string | null = null
  issues: Issue[] = []
  /** Each time an issue was closed that was open before, with the reason. */
  readonly closed: string[] = []
  /** What was asked of it, in order. */
  readonly calls: string[] = []
  /** How often it saved what it knows. */
  synced = 0
  readonly snapshots = new Map<string, string>()
  /** Stands in the way of a call, where somebody put something there. */
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
