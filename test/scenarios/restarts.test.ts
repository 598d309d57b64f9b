import { expect, test } from 'vitest'
import { testSessionId } from '../../testkit/core/ids.ts'
import type { ScriptedProgram } from '../../testkit/in-memory/scripted-process.ts'
import { runScenario } from '../../testkit/in-memory/scenario.ts'
import { startSession } from './start-session.ts'

test('the supervisor restarts a crashed agent in its thread, and the transcript says what happened', async () => {
  const { stage: simulation } = await startSession({
    run: ({ start, argv, stdin }) =>
      start === 1
        ? [{ say: 'thread: t-1\nI begin\n' }, { wait: 500 }, { die: 'SIGSEGV' }]
        : [{ say: `${argv.join(' ')}, told: ${stdin}\n` }, { say: 'done: it\n' }],
  })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.transcript('s1')).toBe(
    [
      'thread: t-1',
      'I begin',
      '── attempt 1: killed by SIGSEGV',
      '── killed by SIGSEGV before the agent ended its turn; next attempt in 100 ms',
      '── attempt 2: continues its thread',
      'talker --resume t-1, told: [oneshot, attempt 2] Your process ended before your work did: killed by SIGSEGV before the agent ended its turn. This is the same conversation. A command that was running at that moment may or may not have taken effect. Check what is already done, then continue the task until it is finished.',
      'done: it',
      '── done: the agent ended its turn, exit code 0',
      '',
    ].join('\n'),
  )
  expect(simulation.machine.starts).toEqual(['s1.1', 's1.2'])
})

test('one transaction records a crash and an immediate restart', async () => {
  const restart = { on: 'crash', limit: 3, window: 600_000, firstDelay: 0, nextDelay: 0, maxDelay: 0 } as const
  const crash: ScriptedProgram = {
    run: ({ start }) => (start === 1 ? [{ wait: 500 }, { die: 'SIGKILL' }] : [{ say: 'done: it\n' }]),
  }
  const { stage: simulation } = await startSession(crash, undefined, { supervision: { restart } })
  await simulation.until(() => simulation.hasEnded('s1'))
  const deathAt = simulation.events('s1').find(event => event.type === 'attempt.ended')?.at
  const followed = simulation
    .events('s1')
    .filter(event => event.at === deathAt)
    .map(event => event.type)
  expect(followed).toEqual(['attempt.ended', 'session.resting', 'attempt.launched', 'message.delivered'])
  expect(simulation.transcript('s1')).toContain(
    'killed by SIGKILL before the agent ended its turn; next attempt at once\n',
  )
  expect(simulation.session('s1')?.restarts).toEqual([deathAt])
})

test.each([true, false])(
  'the engine restarts with a single record, and sweeps later, only if control groups show that no process is left: %s',
  async hasGroups => {
    const restart = { on: 'crash', limit: 3, window: 600_000, firstDelay: 0, nextDelay: 0, maxDelay: 0 } as const
    const program: ScriptedProgram = {
      run: ({ start }) => (start === 1 ? [{ wait: 500 }, { die: 'SIGKILL' }] : [{ say: 'done: it\n' }]),
    }
    const { calls } = await runScenario({ spec: { agent: 'talker', supervision: { restart } }, program, hasGroups })
    const deeds = calls[0]?.filter(call => ['record', 'launch', 'sweep'].includes(call)) ?? []
    const second = deeds.indexOf('launch', deeds.indexOf('launch') + 1)
    const started = ['record', 'launch', 'record']
    expect(deeds.slice(0, second)).toEqual([...started, 'record', ...(hasGroups ? [] : ['sweep', 'record'])])
    expect(deeds.slice(second, second + 2)).toEqual(['launch', hasGroups ? 'sweep' : 'record'])
  },
)

test('an agent that has no thread yet gets its prompt again', async () => {
  const { stage: simulation } = await startSession({
    run: ({ start, stdin }) => (start === 1 ? [{ exit: 1 }] : [{ say: `${stdin}\ndone: it\n` }]),
  })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.transcript('s1')).toContain('── attempt 2: started again\ndo it\n')
})

test('an agent that exits with 0 without a word about its turn is not done', async () => {
  const { stage: simulation } = await startSession({
    run: ({ start }) => (start === 1 ? [{ exit: 0 }] : [{ say: 'done: it\n' }]),
  })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.machine.starts).toEqual(['s1.1', 's1.2'])
})

test('a session ends as failed if its agent says that it failed', async () => {
  const { stage: simulation } = await startSession({ run: () => [{ say: 'failed: no such file\n' }] })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')?.phase).toMatchObject({
    outcome: 'failed',
    reason: 'the agent ended its turn with a failure: no such file',
  })
})

test('the supervisor gives up with a reason when restarts do not help', async () => {
  const { stage: simulation } = await startSession({ run: () => [{ wait: 10 }, { exit: 1 }] })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.machine.starts).toEqual(['s1.1', 's1.2', 's1.3', 's1.4'])
  expect(simulation.session('s1')?.phase).toMatchObject({
    outcome: 'gave-up',
    reason: '3 restarts within 10 min did not help; the last attempt: exit code 1 before the agent ended its turn',
  })
})

test('the supervisor restarts an agent that crashes rarely without end', async () => {
  const { stage: simulation } = await startSession({
    run: ({ start }) => (start <= 20 ? [{ wait: 600_000 }, { exit: 1 }] : [{ say: 'done: it\n' }]),
  })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')?.phase).toMatchObject({ outcome: 'done' })
  expect(simulation.machine.starts).toHaveLength(21)
})

test('the slow round finds an agent that vanished with its shim, and the supervisor restarts it', async () => {
  const program: ScriptedProgram = {
    run: ({ start }) => (start === 1 ? [{ say: 'thread: t-1\n' }, { wait: Infinity }] : [{ say: 'done: it\n' }]),
  }
  const { stage: simulation, engine } = await startSession(program)
  await simulation.until(() => simulation.session('s1')?.thread.id === 't-1')
  const attempt = simulation.machine.attempt({ sessionId: testSessionId('s1'), attempt: 1 })
  attempt.isShimAlive = false
  await engine.runPeriodicCheck()
  expect(simulation.session('s1')?.phase.name, 'the agent lives, only its shim is gone').toBe('running')
  attempt.process?.signal('SIGKILL')
  await engine.runPeriodicCheck()
  expect(simulation.session('s1')).toMatchObject({
    phase: { name: 'resting' },
    attempt: { exit: { kind: 'vanished' } },
  })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.machine.starts).toEqual(['s1.1', 's1.2'])
})

test('the supervisor observes an agent that outlives its shim every second', async () => {
  const { stage: simulation, engine } = await startSession({
    run: () => [{ say: 'thread: t-1\n' }, { wait: 10_000 }, { say: 'done: it\n' }],
  })
  await simulation.until(() => simulation.session('s1')?.thread.id === 't-1')
  simulation.machine.attempt({ sessionId: testSessionId('s1'), attempt: 1 }).isShimAlive = false
  await engine.runPeriodicCheck()
  await simulation.until(
    () => simulation.machine.attempt({ sessionId: testSessionId('s1'), attempt: 1 }).process?.isAlive === false,
  )
  const diedAt = simulation.clock.now()
  await simulation.until(() => simulation.session('s1')?.attempt.exit !== null)
  expect(simulation.clock.now() - diedAt).toBeLessThanOrEqual(1_000)
})

test('the supervisor replaces a pane that never starts its program', async () => {
  const { stage: simulation, engine } = await startSession({ run: () => [{ say: 'done: it\n' }] }, machine => {
    machine.hasDeadPanes = true
  })
  await simulation.clock.advance(19_000)
  await engine.runPeriodicCheck()
  expect(simulation.session('s1')?.phase.name).toBe('starting')
  simulation.machine.hasDeadPanes = false
  await simulation.clock.advance(2_000)
  await engine.runPeriodicCheck()
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.transcript('s1')).toContain('── attempt 1 could not be started: its pane never started\n')
  expect(simulation.machine.starts, 'a late shim of the first attempt starts nothing').toEqual(['s1.2'])
})

test('the supervisor retries an attempt whose pane it cannot open', async () => {
  const { stage: simulation } = await startSession({ run: () => [{ say: 'done: it\n' }] }, machine => {
    machine.paneTrouble = 'no more ptys'
  })
  await simulation.until(() => simulation.session('s1')?.phase.name === 'resting')
  simulation.machine.paneTrouble = null
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.transcript('s1')).toContain('could not be started: opening a pane: no more ptys')
  expect(simulation.machine.starts).toEqual(['s1.2'])
})

test('an attempt starts only when no process of the attempt before it is alive', async () => {
  const { stage: simulation } = await startSession({
    run: ({ start }) => (start === 1 ? [{ litter: 'a server', hides: true }, { exit: 1 }] : [{ say: 'done: it\n' }]),
  })
  await simulation.until(() => simulation.session('s1')?.attempt.number === 3)
  simulation.machine.attempt({ sessionId: testSessionId('s1'), attempt: 1 }).litter.clear()
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.transcript('s1')).toContain(
    'attempt 2 could not be started: something of the attempt before is still alive',
  )
  expect(simulation.machine.starts).toEqual(['s1.1', 's1.3'])
})

test('the supervisor ends all processes of an attempt before the next one begins', async () => {
  const { stage: simulation } = await startSession({
    run: ({ start }) => (start === 1 ? [{ litter: 'a server' }, { exit: 1 }] : [{ say: 'done: it\n' }]),
  })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.machine.starts).toEqual(['s1.1', 's1.2'])
  expect(simulation.machine.alive()).toEqual([])
})

test('the supervisor restarts an attempt whose every trace a power failure erased', async () => {
  const { stage: simulation, engine } = await startSession({
    run: ({ start }) => (start === 1 ? [{ say: 'thread: t-1\n' }, { wait: Infinity }] : [{ say: 'done: it\n' }]),
  })
  await simulation.until(() => simulation.session('s1')?.thread.id === 't-1')
  const attempt = simulation.machine.attempt({ sessionId: testSessionId('s1'), attempt: 1 })
  attempt.isShimAlive = false
  attempt.process?.signal('SIGKILL')
  Object.assign(attempt, { claim: null, life: null, openedAt: null })
  await engine.runPeriodicCheck()
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')).toMatchObject({ attempt: { number: 2 }, phase: { outcome: 'done' } })
})

const SIX_HOURS = 6 * 3_600_000

test('a rest of seconds stays short when somebody sets the clock back', async () => {
  const { stage: simulation, engine } = await startSession({
    run: ({ start }) => (start === 1 ? [{ exit: 1 }] : [{ say: 'done: it\n' }]),
  })
  await simulation.until(() => simulation.session('s1')?.phase.name === 'resting')
  simulation.clock.setBack(SIX_HOURS)
  const setAt = simulation.clock.now()
  await engine.runPeriodicCheck()
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')?.phase).toMatchObject({ outcome: 'done' })
  expect(simulation.clock.now() - setAt).toBeLessThan(60_000)
})

test('a supervisor that starts after somebody set the clock back does not wait for a time that seemed near', async () => {
  const { stage: simulation, engine } = await startSession({
    run: ({ start }) => (start === 1 ? [{ exit: 1 }] : [{ say: 'done: it\n' }]),
  })
  await simulation.until(() => simulation.session('s1')?.phase.name === 'resting')
  await engine.shutDown()
  simulation.clock.setBack(SIX_HOURS)
  const setAt = simulation.clock.now()
  await simulation.supervisor().engine.start()
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.clock.now() - setAt).toBeLessThan(60_000)
})

test('a stop continues with its harder steps when somebody sets the clock back', async () => {
  const { stage: simulation, engine } = await startSession({
    run: () => [{ wait: 2 * SIX_HOURS }],
    ignoredSignals: ['SIGINT', 'SIGTERM'],
  })
  await simulation.until(() => simulation.session('s1')?.phase.name === 'running')
  await engine.stop(testSessionId('s1'))
  simulation.clock.setBack(SIX_HOURS)
  const setAt = simulation.clock.now()
  await engine.runPeriodicCheck()
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.clock.now() - setAt).toBeLessThan(60_000)
})

test('the supervisor replaces a pane that never starts its program, however somebody sets the clock', async () => {
  const { stage: simulation } = await startSession({ run: () => [{ say: 'done: it\n' }] }, machine => {
    machine.hasDeadPanes = true
  })
  const begun = simulation.clock.monotonic()
  await simulation.clock.advance(5_000)
  simulation.clock.setBack(3_600_000)
  await simulation.clock.advance(5_000)
  simulation.machine.hasDeadPanes = false
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.machine.starts).toEqual(['s1.2'])
  expect(simulation.clock.monotonic() - begun).toBeLessThan(60_000)
})

test.each([
  { when: 'while the next attempt is at work', restart: { firstDelay: 0 }, until: 'running' },
  { when: 'while the session rests', restart: { firstDelay: 60_000 }, until: 'resting' },
  { when: 'when the session has ended', restart: { limit: 0 }, until: 'ended' },
] as const)(
  'the engine removes a notification of an exit that it has seen already, $when',
  async ({ restart, until }) => {
    const { stage: simulation, engine } = await startSession(
      {
        run: ({ start }) =>
          start === 1 ? [{ wait: 500 }, { die: 'SIGKILL' }] : [{ wait: 500 }, { say: 'done: it\n' }],
      },
      undefined,
      {
        supervision: {
          restart: {
            on: 'crash',
            limit: 3,
            window: 600_000,
            firstDelay: 0,
            nextDelay: 0,
            maxDelay: 60_000,
            ...restart,
          },
        },
      },
    )
    const isThere = () =>
      simulation.session('s1')?.attempt.exit !== null || simulation.session('s1')?.attempt.number === 2
    await simulation.until(() => isThere() && simulation.session('s1')?.phase.name === until)
    simulation.machine.notify({ sessionId: testSessionId('s1'), attempt: 1 }, 'exit')
    await simulation.until(
      () => simulation.session('s1')?.phase.name === 'ended' && simulation.machine.mailbox.size === 0,
    )
    if (until === 'ended') await engine.remove(testSessionId('s1'))
    simulation.machine.notify({ sessionId: testSessionId('s1'), attempt: 1 }, 'exit')
    await simulation.until(() => simulation.machine.mailbox.size === 0)
  },
)
