import { expect, test } from 'vitest'
import { Trouble } from '../../src/lib/errors.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import { Simulation, makeSpec } from '../../testkit/in-memory/simulation.ts'
import { flushPromises } from '../../testkit/in-memory/virtual-clock.ts'
import { startAcceptedSession, FILES, MINUTE, openBeadsSimulation } from './beads-simulation.ts'

test('the issue sync closes an issue as soon as the task with its id is done, and names the session', async () => {
  const simulation = openBeadsSimulation()
  await startAcceptedSession(simulation)
  await simulation.until(() => simulation.session('s1')?.tasks[0]?.state === 'done')
  await flushPromises()
  expect(simulation.beads.closed).toEqual(['bd-1 finished by talker-task, oneshot session s1'])
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.beads.closed).toHaveLength(1)
  expect(simulation.beads.state('bd-2')).toBe('open')
})

test('the issue sync records the ready issues at the start and after each change', async () => {
  const simulation = openBeadsSimulation()
  await startAcceptedSession(simulation)
  await flushPromises()
  const seen = () =>
    JSON.parse(simulation.beads.snapshots.get('s1') ?? '{}') as { ready: { id: string }[]; settled: string[] }
  expect(seen().ready.map(({ id }) => id)).toEqual(['bd-1', 'bd-2'])
  await simulation.until(() => simulation.beads.closed.length > 0)
  await flushPromises()
  expect(seen()).toMatchObject({ ready: [{ id: 'bd-2' }], settled: ['bd-1'] })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.beads.synced).toBeGreaterThan(1)
})

test('the issue sync does not save the tracker again if only the plan changes', async () => {
  const simulation = openBeadsSimulation({
    run: () => [{ say: 'plan: 1 open a\n' }, { wait: 10 }, { say: 'plan: 1 doing a\n' }, { wait: MINUTE }, { exit: 0 }],
  })
  await startAcceptedSession(simulation)
  await simulation.until(() => simulation.session('s1')?.tasks[0]?.state === 'doing')
  await flushPromises()
  expect(simulation.beads.synced).toBe(1)
  expect(simulation.beads.calls.filter(call => call === 'ready').length).toBeGreaterThan(1)
})

test('the issue sync does not close an issue again that a person has reopened', async () => {
  const simulation = openBeadsSimulation()
  await startAcceptedSession(simulation)
  await simulation.until(() => simulation.beads.closed.length > 0)
  simulation.beads.set('bd-1', 'open')
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.beads.closed).toHaveLength(1)
  expect(simulation.beads.state('bd-1')).toBe('open')
})

test('a task that the agent reopens and finishes closes its issue again', async () => {
  const simulation = openBeadsSimulation({ run: () => [{ wait: 60 * MINUTE }] })
  const engine = await startAcceptedSession(simulation)
  const name = async (state: 'open' | 'done') => {
    await engine.setTasks(testSessionId('s1'), () => [{ id: 'bd-1', title: 'bd-1', state }])
    await flushPromises()
  }
  await name('done')
  simulation.beads.set('bd-1', 'open')
  await name('open')
  expect(simulation.beads.closed).toHaveLength(1)
  await name('done')
  expect(simulation.beads.closed).toHaveLength(2)
})

test('the issue sync closes an issue that is not ready if a task names its id, even after the end of the session', async () => {
  const simulation = openBeadsSimulation({ run: () => [{ say: 'done: it\n' }] })
  const engine = await startAcceptedSession(simulation)
  await simulation.until(() => simulation.hasEnded('s1'))
  simulation.beads.issues = simulation.beads.issues.filter(({ id }) => id !== 'bd-2')
  const blocked = { id: 'bd-9', title: 'blocked', state: 'open' as const }
  const ready = simulation.beads.issues
  simulation.beads.obstacle = call => {
    simulation.beads.issues = call === 'ready' ? ready : [...ready, blocked]
  }
  await engine.setTasks(testSessionId('s1'), () => [{ id: 'bd-9', title: 'bd-9', state: 'done' }])
  await flushPromises()
  expect(simulation.beads.closed).toEqual(['bd-9 finished by talker-task, oneshot session s1'])
})

test('two sessions of one project do not use its tracker at the same time', async () => {
  const simulation = openBeadsSimulation()
  let inside = 0
  let most = 0
  simulation.beads.obstacle = async () => {
    most = Math.max(most, ++inside)
    await new Promise<void>(resolve => simulation.clock.schedule(simulation.clock.now() + 50, resolve))
    inside--
  }
  const engine = await startAcceptedSession(simulation)
  await engine.create({ ...makeSpec({ agent: 'talker' }), id: testSessionId('s2'), name: 'talker-other' }, FILES)
  await simulation.until(
    () => simulation.hasEnded('s1') && simulation.hasEnded('s2') && simulation.beads.snapshots.size === 2,
  )
  expect(most).toBe(1)
  expect(simulation.beads.closed).toHaveLength(1)
})

test('the digest for a fresh thread names open tasks, finished tasks and the tracker of the project', async () => {
  const simulation = new Simulation({
    scribe: {
      run: ({ start }) => [
        { record: `t-${start}` },
        { say: `thread: t-${start}\n` },
        ...(start > 1
          ? [{ say: 'done: it\n' }]
          : [{ say: 'plan: 1 done bd-1: look; 2 doing fix it; 3 open tidy up\nfull: too long\n' }, { exit: 1 }]),
      ],
    },
  })
  simulation.beads.root = '/project'
  simulation.beads.obstacle = call => {
    throw new Trouble(call, 'it was never reached')
  }
  const { engine } = simulation.supervisor()
  await engine.start()
  await engine.create(makeSpec({ agent: 'scribe' }), FILES)
  await simulation.until(() => simulation.hasEnded('s1'))
  const digest = simulation.machine.records.get('t-2')?.[0]
  expect(digest).toContain(
    [
      'Open tasks, in the planned order:',
      '- fix it (in progress)',
      '- tidy up',
      'Finished tasks: bd-1: look',
      '',
      'The project keeps its tasks in beads: `bd ready --json` lists what is open.',
    ].join('\n'),
  )
})
