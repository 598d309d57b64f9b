import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Issue } from '../../src/core/session/tasks-and-tracker-issues.ts'
import type { TrackerContext, Tracker } from '../../src/ports/tracker.ts'
import { testSessionId } from '../../testkit/core/ids.ts'

/** A tracker with a project, and direct access to its data. */
export interface TrackerFixture {
  readonly tracker: Tracker
  readonly place: TrackerContext
  /** Creates an issue. Returns its id. */
  create(title: string): string
  set(id: string, state: Issue['state']): void
  state(id: string): Issue['state'] | undefined
  /** Returns each closing of an open issue, with the reason. */
  closed(): string[]
  close(): void
}

const never = new AbortController().signal

/** Tests the promises of every task tracker. */
export function testTracker(world: string, open: () => TrackerFixture): void {
  describe(`a task tracker (${world})`, () => {
    let bench: TrackerFixture
    beforeEach(() => {
      bench = open()
    })
    afterEach(() => bench.close())

    test('finds its folder and returns its version', async () => {
      expect(bench.tracker.findRoot(bench.place)).toEqual(expect.any(String))
      expect(await bench.tracker.version(bench.place, never)).toMatch(/^\d+\.\d+\.\d+$/)
    })

    test('lists issues in progress first, then open ones, and no closed ones', async () => {
      const [first = '', second = '', third = ''] = ['write tests', 'fix it', 'ship it'].map(title =>
        bench.create(title),
      )
      bench.set(second, 'doing')
      bench.set(third, 'done')
      expect(await bench.tracker.readyIssues(bench.place, never)).toEqual([
        { id: second, title: 'fix it', state: 'doing' },
        { id: first, title: 'write tests', state: 'open' },
      ])
    })

    test('lists all 60 issues of a long list', async () => {
      for (let n = 0; n < 60; n++) bench.create(`task ${n}`)
      expect(await bench.tracker.readyIssues(bench.place, never)).toHaveLength(60)
    }, 60_000)

    test('lists nothing if there are no issues', async () => {
      expect(await bench.tracker.readyIssues(bench.place, never)).toEqual([])
    })

    test('finds an issue by its id, even a closed one', async () => {
      const id = bench.create('write "tests"; rm -rf $HOME\nand more')
      bench.set(id, 'done')
      expect(await bench.tracker.findIssue(bench.place, id, never)).toMatchObject({ id, state: 'done' })
    })

    test('closes an issue once, however often oneshot asks for it', async () => {
      const id = bench.create('write tests')
      await bench.tracker.closeIssue(bench.place, id, 'because; $(it) is "done"', never)
      await bench.tracker.closeIssue(bench.place, id, 'again', never)
      expect(bench.state(id)).toBe('done')
      expect(bench.closed()).toEqual([`${id} because; $(it) is "done"`])
    })

    test('syncs twice without trouble', async () => {
      bench.create('write tests')
      await bench.tracker.sync(bench.place, never)
      await bench.tracker.sync(bench.place, never)
    })

    test('saves and loads the last snapshot of each session', () => {
      const ready: Issue[] = [{ id: 'bd-1', title: 'one', state: 'open' }]
      const seen = { version: '1.0.0', at: 7, ready, settled: ['bd-0'] }
      expect(bench.tracker.loadSnapshot(testSessionId('s1'))).toBeNull()
      bench.tracker.saveSnapshot(testSessionId('s1'), seen)
      expect(bench.tracker.loadSnapshot(testSessionId('s1'))).toEqual({
        ...seen,
        kind: 'beads',
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      })
      expect(bench.tracker.loadSnapshot(testSessionId('s2'))).toBeNull()
    })
  })
}
