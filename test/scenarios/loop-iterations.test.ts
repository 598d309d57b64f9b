import { describe, expect, it } from 'vitest'
import { type LoopSimulation, PROJECT } from '../../testkit/in-memory/loop-simulation.ts'
import { openLoop } from './loop-scenarios.ts'

/** Each task by the name of its file, its state, and its number of iterations. */
function board({ loop }: LoopSimulation): Record<string, string> {
  const name = (title: string): string => /\[\S+ (\S+)\]/.exec(title)?.[1] ?? title
  return Object.fromEntries(
    loop.tasks.map(({ item, state, tries }) => [name(item.title), `${state.name} ${tries.length}`]),
  )
}

function outcome({ loop }: LoopSimulation): unknown {
  return loop.stage.name === 'ended' ? loop.stage.ending : loop.stage.name
}

describe('a serial loop', () => {
  it('tells agents that work from agents that do nothing, lie, break the check and fail', async () => {
    const simulation = openLoop([
      'good a.txt',
      'idle|good b.txt',
      'liar c.txt',
      'breaks|mends d.txt',
      'fails|quiet e.txt',
    ])
    await simulation.run()
    expect(board(simulation)).toEqual({
      'a.txt': 'done 1',
      'b.txt': 'done 2',
      'c.txt': 'blocked 2',
      'd.txt': 'done 2',
      'e.txt': 'done 2',
    })
    expect(outcome(simulation)).toMatchObject({
      kind: 'unfinished',
      reason: expect.stringMatching(/^4 of 5 tasks done/),
    })
    expect(simulation.list.match(/\[x\]/g)).toHaveLength(4)
    expect(simulation.list).toContain('- [ ] make it [liar c.txt]')
    expect(simulation.files.has('broken')).toBe(false)
  })

  it('reopens a task whose finished work another agent removed, and finishes both', async () => {
    const simulation = openLoop(['good a.txt', 'undoes|good b.txt'])
    await simulation.run()
    expect(board(simulation)['b.txt']).toMatch(/^done/)
    expect(simulation.loop.tasks[0]).toMatchObject({ reopened: 1, state: { name: 'done' } })
    expect([...simulation.files.keys()].toSorted()).toEqual(['PRD.md', 'a.txt', 'b.txt'])
    expect(simulation.loop.notes.join('\n')).toMatch(/task 1 was opened again: .*a\.txt/)
  })

  it('restores the list that an agent deleted, and ticks the box in it', async () => {
    const simulation = openLoop(['unlists a.txt', 'good b.txt'])
    await simulation.run()
    expect(board(simulation)).toEqual({ 'a.txt': 'done 1', 'b.txt': 'done 1' })
    expect(simulation.list.match(/\[x\]/g)).toHaveLength(2)
    expect(simulation.loop.notes).toContain('the agent of task 1 deleted PRD.md: it is back as it was')
  })

  it('restores the list in which an agent left no task, and says where the agent’s text is', async () => {
    const simulation = openLoop(['garbles a.txt', 'good b.txt'])
    await simulation.run()
    expect(board(simulation)).toEqual({ 'a.txt': 'done 1', 'b.txt': 'done 1' })
    expect(simulation.list.match(/\[x\]/g)).toHaveLength(2)
    expect(simulation.loop.notes).toEqual([
      'the agent of task 1 left no task in PRD.md: it is back as it was, and the agent’s text is in /copy.replaced',
    ])
  })

  it('keeps the list from before an agent that removed a task, does the task, and names the command that restores the list', async () => {
    const simulation = openLoop(['shortens a.txt', 'good b.txt'])
    const before = simulation.list
    await simulation.run()
    expect(board(simulation)).toEqual({ 'a.txt': 'done 1', 'b.txt': 'done 1' })
    expect(simulation.loop.notes).toEqual([
      'the agent of task 1 removed task 2 from the list; `cp /copy.before-1 PRD.md` brings the earlier list back',
    ])
    expect(simulation.keptLists.get('before-1')).toBe(before)
  })

  it('works on a task that an agent has added', async () => {
    const simulation = openLoop(['adds a.txt'])
    await simulation.run()
    expect(board(simulation)).toEqual({ 'a.txt': 'done 1', 'added.txt': 'done 1' })
    expect(simulation.loop.tasks[1]).toMatchObject({ addedBy: 'the agent of task 1' })
  })

  it('ends at its limit of iterations, and continues after a resume', async () => {
    const simulation = openLoop(['good a.txt', 'good b.txt', 'good c.txt'], { maxIterations: 2 })
    await simulation.run()
    expect(board(simulation)).toEqual({ 'a.txt': 'done 1', 'b.txt': 'done 1', 'c.txt': 'open 0' })
    expect(outcome(simulation)).toMatchObject({ kind: 'unfinished' })
    await simulation.resume()
    expect(board(simulation)).toEqual({ 'a.txt': 'done 1', 'b.txt': 'done 1', 'c.txt': 'done 1' })
    expect(outcome(simulation)).toMatchObject({ kind: 'done' })
  })

  it('tries a blocked task again after a resume', async () => {
    const simulation = openLoop(['idle|idle|good a.txt'])
    await simulation.run()
    expect(board(simulation)).toEqual({ 'a.txt': 'blocked 2' })
    await simulation.resume()
    expect(board(simulation)).toEqual({ 'a.txt': 'done 3' })
    expect(outcome(simulation)).toMatchObject({ kind: 'done' })
  })

  it('does not take the work of another task for the work of a task that it tries again', async () => {
    const simulation = openLoop(['idle a.txt', 'good b.txt'], { retries: 1 })
    await simulation.run()
    await simulation.resume()
    expect(board(simulation)).toEqual({ 'a.txt': 'blocked 2', 'b.txt': 'done 1' })
  })

  it('names a missing list after a resume, and continues when the list is back', async () => {
    const simulation = openLoop(['idle|good a.txt', 'good b.txt'], { retries: 1 })
    await simulation.run()
    const { list } = simulation
    simulation.files.delete('PRD.md')
    await simulation.resume()
    expect(outcome(simulation)).toEqual({
      kind: 'unfinished',
      reason: 'PRD.md does not exist; `cp /copy PRD.md` brings it back as the loop last saw it',
    })
    simulation.files.set('PRD.md', list)
    await simulation.resume()
    expect(board(simulation)).toEqual({ 'a.txt': 'done 2', 'b.txt': 'done 1' })
  })

  it('refuses to work in a checkout in which another serial loop works', async () => {
    const simulation = openLoop(['good a.txt'])
    simulation.serialLoop = 'ralph-other'
    await simulation.run()
    expect(outcome(simulation)).toMatchObject({
      kind: 'unfinished',
      reason: expect.stringMatching(
        /^ralph-other already works in this checkout; wait for it: oneshot wait ralph-other/,
      ),
    })
    expect(simulation.workers.starts).toEqual([])
  })
})

describe('a parallel loop', () => {
  it('merges proven work, and leaves the user’s checkout as it is until it lands', async () => {
    const simulation = openLoop(['good a.txt', 'good b.txt', 'idle c.txt'], { parallel: 3 })
    await simulation.run()
    expect(board(simulation)).toEqual({ 'a.txt': 'done 1', 'b.txt': 'done 1', 'c.txt': 'blocked 2' })
    expect([...simulation.files.keys()]).toEqual(['PRD.md'])
    const merged = simulation.git.filesOf(simulation.loop.branch ?? '')
    expect([...(merged?.keys() ?? [])].toSorted()).toEqual(['PRD.md', 'a.txt', 'b.txt'])
    expect(merged?.get('PRD.md')?.match(/\[x\]/g)).toHaveLength(2)
  })

  it('has an agent resolve a conflict, and lands the result', async () => {
    const simulation = openLoop(['shares a.txt', 'shares b.txt'], { parallel: 2, land: true })
    await simulation.run()
    expect(outcome(simulation)).toMatchObject({ kind: 'done' })
    expect(simulation.loop.tasks.map(({ tries }) => tries.map(({ role }) => role))).toEqual([
      ['task'],
      ['task', 'resolve'],
    ])
    expect(simulation.files.get('shared.txt')).toBe('all of them\n')
    expect([...simulation.git.checkouts.keys()]).toEqual([PROJECT])
    expect(simulation.list.match(/\[x\]/g)).toHaveLength(2)
  })

  it('lets fewer agents work after a usage limit, and waits for the limit', async () => {
    const simulation = openLoop(['limited a.txt', 'good b.txt', 'good c.txt', 'good d.txt'], { parallel: 4 })
    await simulation.run()
    const { limitedAt, concurrency, tasks } = simulation.loop
    expect({ isLimited: limitedAt !== null, width: concurrency }).toEqual({ isLimited: true, width: 2 })
    expect(tasks.map(({ state, tries }) => `${state.name} ${tries.length}`)).toEqual(Array(4).fill('done 1'))
  })
})
