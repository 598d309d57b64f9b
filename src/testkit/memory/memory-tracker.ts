import crypto from 'node:crypto'
import type { Issue, Tracked } from '../../core/tracked.ts'
import type { Tracker } from '../../ports/tracker.ts'

/** A project's task tracker, and what was written down about it. It outlives the supervisors that visit it. */
export class MemoryBeads {
  /** Where its list lies; null for a project without one. */
  root: string | null = null
  issues: Issue[] = []
  /** Each time an issue was closed that was open before, with the reason. */
  readonly closed: string[] = []
  /** What was asked of it, in order. */
  readonly calls: string[] = []
  /** How often it saved what it knows. */
  synced = 0
  readonly kept = new Map<string, string>()
  /** Stands in the way of a call, where somebody put something there. */
  obstacle: (call: string) => Promise<void> | void = () => undefined

  state(id: string): Issue['state'] | undefined {
    return this.issues.find(issue => issue.id === id)?.state
  }

  set(id: string, state: Issue['state']): void {
    this.issues = this.issues.map(issue => (issue.id === id ? { ...issue, state } : issue))
  }
}

export function memoryTracker(beads: MemoryBeads): Tracker {
  const called = async (call: string): Promise<void> => {
    beads.calls.push(call)
    await beads.obstacle(call)
  }
  return {
    kind: 'beads',
    find: () => beads.root,
    version: async () => {
      await called('version')
      return '1.0.5'
    },
    sync: async () => {
      await called('sync')
      beads.synced++
    },
    ready: async () => {
      await called('ready')
      const inState = (state: Issue['state']): Issue[] => beads.issues.filter(issue => issue.state === state)
      return [...inState('doing'), ...inState('open')]
    },
    show: async (_, id) => {
      await called(`show ${id}`)
      return beads.issues.find(issue => issue.id === id) ?? null
    },
    close: async (_, id, reason) => {
      await called(`close ${id}`)
      if (beads.state(id) !== 'done') beads.closed.push(`${id} ${reason}`)
      beads.set(id, 'done')
    },
    recall: sessionId => {
      const text = beads.kept.get(sessionId)
      return text === undefined ? null : (JSON.parse(text) as Tracked)
    },
    keep: (sessionId, seen) => {
      const hash = crypto.createHash('sha256').update(JSON.stringify(seen.ready)).digest('hex')
      beads.kept.set(sessionId, JSON.stringify({ kind: 'beads', hash, ...seen }))
    },
  }
}
