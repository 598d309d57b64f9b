import { expect, test } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { Trouble } from '../../src/lib/trouble.ts'
import type { Program } from '../../src/testkit/memory/scripted-process.ts'
import { Stage, specOf } from '../../src/testkit/memory/stage.ts'
import { settle } from '../../src/testkit/memory/virtual-clock.ts'

const FILES = { prompt: Buffer.from('do it'), env: {} }
const MINUTE = 60_000

/** Plans two tasks, finishes the first, and takes its time with the second. */
const PLANNER: Program = {
  run: () => [
    { say: 'thread: t-1\nplan: 1 doing bd-1: write tests; 2 open tidy up\n' },
    { wait: 1_000 },
    { say: 'plan: 1 done bd-1: write tests; 2 doing tidy up\n' },
    { wait: 10 * MINUTE },
    { say: 'plan: 1 done bd-1: write tests; 2 done tidy up\ndone: all of it\n' },
  ],
}

function withBeads(program: Program = PLANNER): Stage {
  const stage = new Stage({ talker: program })
  stage.beads.root = '/project'
  stage.beads.issues = ['bd-1', 'bd-2'].map(id => ({ id, title: `issue ${id}`, state: 'open' }))
  return stage
}

async function begin(stage: Stage): Promise<Engine> {
  const { engine } = stage.supervisor()
  await engine.start()
  await engine.create(specOf({ agent: 'talker' }), FILES)
  return engine
}

const notesOf = (stage: Stage): string[] =>
  stage.events('s1').flatMap(event => (event.type === 'session.noted' ? [event.note] : []))

test('an issue is closed as soon as the task that carries its id is done, with who did it', async () => {
  const stage = withBeads()
  await begin(stage)
  await stage.until(() => stage.session('s1')?.tasks[0]?.state === 'done')
  await settle()
  expect(stage.beads.closed).toEqual(['bd-1 finished by talker-task, oneshot session s1'])
  await stage.until(() => stage.hasEnded('s1'))
  expect(stage.beads.closed).toHaveLength(1)
  expect(stage.beads.state('bd-2')).toBe('open')
})

test('what is ready is written down from the start on, and again when it changes', async () => {
  const stage = withBeads()
  await begin(stage)
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
  await begin(stage)
  await stage.until(() => stage.session('s1')?.tasks[0]?.state === 'doing')
  await settle()
  expect(stage.beads.synced).toBe(1)
  expect(stage.beads.calls.filter(call => call === 'ready').length).toBeGreaterThan(1)
})

test('a person who opens an issue again, which was closed here, is not argued with', async () => {
  const stage = withBeads()
  await begin(stage)
  await stage.until(() => stage.beads.closed.length > 0)
  stage.beads.set('bd-1', 'open')
  await stage.until(() => stage.hasEnded('s1'))
  expect(stage.beads.closed).toHaveLength(1)
  expect(stage.beads.state('bd-1')).toBe('open')
})

test('a task that is opened and finished again closes its issue again', async () => {
  const stage = withBeads({ run: () => [{ wait: 60 * MINUTE }] })
  const engine = await begin(stage)
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
  const engine = await begin(stage)
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

test('a tracker that fails is told of once, asked only now and then, and harms nothing', async () => {
  const stage = withBeads()
  stage.beads.obstacle = call => {
    throw new Trouble(`running bd ${call}`, 'exit code 1: database is locked')
  }
  await begin(stage)
  await stage.until(() => stage.hasEnded('s1'))
  expect(notesOf(stage)).toEqual([
    'beads: running bd version: exit code 1: database is locked; the work goes on without it',
  ])
  // Ten minutes: at the start, and after 30, 60, 120 and 240 seconds.
  expect(stage.beads.calls.length).toBeLessThanOrEqual(6)
  expect(stage.session('s1')?.phase).toMatchObject({ outcome: 'done' })
  expect(stage.troubles).toEqual([])
})

test('a tracker that hangs is given up after ten seconds, each time', async () => {
  const stage = withBeads()
  stage.beads.obstacle = () => new Promise(() => undefined)
  await begin(stage)
  await stage.until(() => stage.hasEnded('s1'))
  expect(notesOf(stage)).toEqual(['beads: asking for its version: no answer within 10 s; the work goes on without it'])
})

test('what a tracker could not be told while it failed is told when it works again, long after the end', async () => {
  const stage = withBeads({ run: () => [{ say: 'plan: 1 done bd-1\ndone: it\n' }] })
  let isDown = true
  stage.beads.obstacle = () => {
    if (isDown) throw new Trouble('running bd', 'exit code 1')
  }
  await begin(stage)
  await stage.until(() => stage.hasEnded('s1'))
  await stage.clock.pass(60 * MINUTE)
  expect(stage.beads.closed).toEqual([])
  isDown = false
  await stage.clock.pass(60 * MINUTE)
  expect(stage.beads.closed).toHaveLength(1)
  const asked = stage.beads.calls.length
  await stage.clock.pass(600 * MINUTE)
  expect(stage.beads.calls).toHaveLength(asked)
})

test('a list that can be read is written down even when nothing can be pushed', async () => {
  const stage = withBeads()
  stage.beads.obstacle = call => {
    if (call === 'sync') throw new Trouble('running bd dolt', 'exit code 1: could not reach the remote')
  }
  await begin(stage)
  await stage.until(() => stage.hasEnded('s1'))
  expect(stage.beads.closed).toHaveLength(1)
  expect(stage.beads.kept.has('s1')).toBe(true)
  expect(notesOf(stage)).toHaveLength(1)
})

test('an issue that will not be closed is left to people after three tries, and keeps no other from it', async () => {
  const stage = withBeads({ run: () => [{ say: 'plan: 1 done bd-1; 2 done bd-2\ndone: it\n' }] })
  stage.beads.obstacle = call => {
    if (call === 'close bd-1') throw new Trouble('running bd close', 'exit code 1: bd-1 is blocked')
  }
  await begin(stage)
  await stage.until(() => stage.hasEnded('s1'))
  await stage.clock.pass(600 * MINUTE)
  expect(stage.beads.closed).toEqual(['bd-2 finished by talker-task, oneshot session s1'])
  expect(stage.beads.calls.filter(call => call === 'close bd-1')).toHaveLength(3)
  expect(notesOf(stage)).toEqual(['beads: running bd close: exit code 1: bd-1 is blocked; the work goes on without it'])
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
  const engine = await begin(stage)
  await engine.create({ ...specOf({ agent: 'talker' }), id: 's2', name: 'talker-other' }, FILES)
  await stage.until(() => stage.hasEnded('s1') && stage.hasEnded('s2') && stage.beads.kept.size === 2)
  expect(most).toBe(1)
  expect(stage.beads.closed).toHaveLength(1)
})

test('a supervisor that is shut down waits for nobody who does not answer', async () => {
  const stage = withBeads()
  stage.beads.obstacle = () => new Promise(() => undefined)
  const engine = await begin(stage)
  await settle()
  expect(stage.beads.calls).toEqual(['version'])
  await engine.shutDown()
  expect(notesOf(stage)).toEqual([])
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
  const { engine } = stage.supervisor()
  await engine.start()
  await engine.create(specOf({ agent: 'scribe' }), FILES)
  await stage.until(() => stage.hasEnded('s1'))
  const digest = stage.machine.records.get('t-2')?.[0]
  expect(digest).toContain(
    [
      'Open tasks, as they were planned:',
      '- fix it (begun)',
      '- tidy up',
      'Done already: bd-1: look',
      '',
      'The project keeps its tasks in beads: `bd ready --json` lists what is open.',
    ].join('\n'),
  )
})
