import { expect, test } from 'vitest'
import { Trouble } from '../../src/lib/trouble.ts'
import { Stage, specOf } from '../../src/testkit/memory/stage.ts'
import { settle } from '../../src/testkit/memory/virtual-clock.ts'
import { accepted, FILES, MINUTE, withBeads } from './with-beads.ts'

test('an issue is closed as soon as the task that carries its id is done, with who did it', async () => {
  const stage = withBeads()
  await accepted(stage)
  await stage.until(() => stage.session('s1')?.tasks[0]?.state === 'done')
  await settle()
  expect(stage.beads.closed).toEqual(['bd-1 finished by talker-task, oneshot session s1'])
  await stage.until(() => stage.hasEnded('s1'))
  expect(stage.beads.closed).toHaveLength(1)
  expect(stage.beads.state('bd-2')).toBe('open')
})

test('what is ready is written down from the start on, and again when it changes', async () => {
  const stage = withBeads()
  await accepted(stage)
  await settle()
  const seen = () => JSON.parse(stage.beads.kept.get('s1') ?? '{}') as { ready: { id: string }[]; settled: string[] }
  expect(seen().ready.map(({ id }) => id)).toEqual(['bd-1', 'bd-2'])
  await stage.until(() => stage.beads.closed.length > 0)
  await settle()
  expect(seen()).toMatchObject({ ready: [{ id: 'bd-2' }], settled: ['bd-1'] })
  await stage.until(() => stage.hasEnded('s1'))
  expect(stage.beads.synced).toBeGreaterThan(1)
})

test('a plan that changes without anything new in the tracker does not have it saved again', async () => {
  const stage = withBeads({
    run: () => [{ say: 'plan: 1 open a\n' }, { wait: 10 }, { say: 'plan: 1 doing a\n' }, { wait: MINUTE }, { exit: 0 }],
  })
  await accepted(stage)
  await stage.until(() => stage.session('s1')?.tasks[0]?.state === 'doing')
  await settle()
  expect(stage.beads.synced).toBe(1)
  expect(stage.beads.calls.filter(call => call === 'ready').length).toBeGreaterThan(1)
})

test('a person who opens an issue again, which was closed here, is not argued with', async () => {
  const stage = withBeads()
  await accepted(stage)
  await stage.until(() => stage.beads.closed.length > 0)
  stage.beads.set('bd-1', 'open')
  await stage.until(() => stage.hasEnded('s1'))
  expect(stage.beads.closed).toHaveLength(1)
  expect(stage.beads.state('bd-1')).toBe('open')
})

test('a task that is opened and finished again closes its issue again', async () => {
  const stage = withBeads({ run: () => [{ wait: 60 * MINUTE }] })
  const engine = await accepted(stage)
  const name = async (state: 'open' | 'done') => {
    await engine.nameTasks('s1', () => [{ id: 'bd-1', title: 'bd-1', state }])
    await settle()
  }
  await name('done')
  stage.beads.set('bd-1', 'open')
  await name('open')
  expect(stage.beads.closed).toHaveLength(1)
  await name('done')
  expect(stage.beads.closed).toHaveLength(2)
})

test('an issue that is not ready is closed when it is named by its id, also when the session has ended', async () => {
  const stage = withBeads({ run: () => [{ say: 'done: it\n' }] })
  const engine = await accepted(stage)
  await stage.until(() => stage.hasEnded('s1'))
  stage.beads.issues = stage.beads.issues.filter(({ id }) => id !== 'bd-2')
  const blocked = { id: 'bd-9', title: 'blocked', state: 'open' as const }
  const ready = stage.beads.issues
  stage.beads.obstacle = call => {
    stage.beads.issues = call === 'ready' ? ready : [...ready, blocked]
  }
  await engine.nameTasks('s1', () => [{ id: 'bd-9', title: 'bd-9', state: 'done' }])
  await settle()
  expect(stage.beads.closed).toEqual(['bd-9 finished by talker-task, oneshot session s1'])
})

test('two sessions of one project do not visit its tracker at the same time', async () => {
  const stage = withBeads()
  let inside = 0
  let most = 0
  stage.beads.obstacle = async () => {
    most = Math.max(most, ++inside)
    await new Promise<void>(resolve => stage.clock.ring(stage.clock.now() + 50, resolve))
    inside--
  }
  const engine = await accepted(stage)
  await engine.create({ ...specOf({ agent: 'talker' }), id: 's2', name: 'talker-other' }, FILES)
  await stage.until(() => stage.hasEnded('s1') && stage.hasEnded('s2') && stage.beads.kept.size === 2)
  expect(most).toBe(1)
  expect(stage.beads.closed).toHaveLength(1)
})

test('a fresh thread is told what was planned, what of it is done, and where the project keeps the rest', async () => {
  const stage = new Stage({
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
  stage.beads.root = '/project'
  stage.beads.obstacle = call => {
    throw new Trouble(call, 'it was never reached')
  }
  const { engine } = stage.supervisor()
  await engine.start()
  await engine.create(specOf({ agent: 'scribe' }), FILES)
  await stage.until(() => stage.hasEnded('s1'))
  const digest = stage.machine.records.get('t-2')?.[0]
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
