import { expect, test } from 'vitest'
import { testSessionId } from '../../testkit/core/ids.ts'
import { interceptCall } from '../../testkit/in-memory/simulation.ts'
import { Simulation, makeSpec } from '../../testkit/in-memory/simulation.ts'

const FILES = { prompt: Buffer.from('do it'), env: {} }
const FIRST = { sessionId: testSessionId('s1'), attempt: 1 }

test('the engine sees an exit in the moment in which it records the start', async () => {
  const simulation = new Simulation({ mute: { run: () => [{ wait: Infinity }] } })
  const dieNow = (): boolean => {
    simulation.machine.attempt(FIRST).process?.signal('SIGKILL')
    return false
  }
  const { engine } = simulation.supervisor(interceptCall('acknowledge', 'before', dieNow))
  await engine.start()
  await engine.create(makeSpec({ agent: 'mute' }), FILES)
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')?.attempt.exit).toEqual({ kind: 'signal', signal: 'SIGKILL' })
})

test('the engine reads the last output of an agent whose shim was killed while no supervisor lived', async () => {
  const simulation = new Simulation({
    talker: { run: () => [{ say: 'I begin\n' }, { wait: 1_000 }, { say: 'done: all of it\n' }] },
  })
  let isShimKilled = false
  const speakAndDie = (): boolean => {
    if (!isShimKilled) return true
    simulation.machine.attempt(FIRST).process?.advance()
    return false
  }
  const { engine } = simulation.supervisor(interceptCall('readOutput', 'after', speakAndDie))
  await engine.start()
  await engine.create(makeSpec({ agent: 'talker' }), FILES)
  await simulation.until(() => simulation.session('s1')?.phase.name === 'running')
  simulation.machine.attempt(FIRST).isShimAlive = false
  isShimKilled = true
  await engine.runPeriodicCheck()
  await engine.runPeriodicCheck()
  expect(simulation.session('s1')?.attempt.result).toEqual({ ok: true, text: 'all of it' })
})

test('the transcript joins a torn line with its rest that the terminal gives after the death of the program', async () => {
  const simulation = new Simulation({ talker: { run: () => [{ say: 'I begin\ndone: all' }] } })
  const give = (): boolean => {
    const attempt = simulation.machine.attempt(FIRST)
    attempt.output = Buffer.concat([attempt.output, Buffer.from(' of it\n')])
    return false
  }
  const { engine } = simulation.supervisor(interceptCall('sweep', 'before', give))
  await engine.start()
  await engine.create(makeSpec({ agent: 'talker', mode: 'tty' }), FILES)
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')).toMatchObject({ attempt: { number: 1, result: { ok: true, text: 'all of it' } } })
  expect(simulation.transcript('s1')).toContain('\ndone: all of it\n')
})

test('the transcript gets a line without an end when the agent has vanished', async () => {
  const simulation = new Simulation({ talker: { run: () => [{ say: 'I was about to' }, { wait: Infinity }] } })
  const { engine } = simulation.supervisor()
  await engine.start()
  await engine.create(
    makeSpec({
      agent: 'talker',
      supervision: { restart: { ...makeSpec({ agent: 'talker' }).supervision.restart, limit: 0 } },
    }),
    FILES,
  )
  await simulation.until(() => simulation.session('s1')?.phase.name === 'running')
  simulation.machine.attempt(FIRST).isShimAlive = false
  simulation.machine.attempt(FIRST).process?.signal('SIGKILL')
  await engine.runPeriodicCheck()
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.transcript('s1').split('\n')[0]).toBe('I was about to')
})

test('the engine accepts a question of an agent whose start it has not seen yet', async () => {
  const simulation = new Simulation({ talker: { run: () => [{ say: 'ask: may I?\n' }, { wait: Infinity }] } })
  let hasSeen = false
  const unseen = simulation.machine.attempt(FIRST)
  const { engine } = simulation.supervisor({
    wrap: port =>
      new Proxy(port, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name, target)
          if (typeof value !== 'function') return value
          if (name !== 'attemptState') return value.bind(target)
          return (...args: unknown[]) => {
            const evidence = value.apply(target, args) as object
            const isStale = !hasSeen && unseen.life !== null
            hasSeen ||= isStale
            return isStale
              ? { ...evidence, isClaimed: false, life: null, process: 'unknown', shim: 'unknown' }
              : evidence
          }
        },
      }),
  })
  await engine.start()
  await engine.create(makeSpec({ agent: 'talker' }), FILES)
  await simulation.until(() => simulation.session('s1')?.phase.name === 'waiting')
  await engine.runPeriodicCheck()
  expect(simulation.session('s1')).toMatchObject({ phase: { name: 'waiting' }, attempt: { process: { pid: 1_001 } } })
})

test('a stop overtakes a launch that could not be performed yet', async () => {
  const simulation = new Simulation({ talker: { run: () => [{ wait: Infinity }] } })
  let hasTmux = false
  const { engine } = simulation.supervisor(
    interceptCall('launch', 'before', () => {
      if (!hasTmux) throw new Error('tmux is not installed')
      return true
    }),
  )
  await engine.start()
  await engine.create(makeSpec({ agent: 'talker' }), FILES)
  await simulation.until(() => simulation.troubles.length > 0)
  hasTmux = true
  await engine.stop(testSessionId('s1'))
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.machine.starts).toEqual([])
  expect(simulation.session('s1')?.phase).toMatchObject({ outcome: 'stopped' })
})

test('the engine retries a due timer on a full disk with pauses, and does not forget it', async () => {
  const simulation = new Simulation({ talker: { run: () => [{ wait: Infinity }] } })
  let failures = 0
  let isFull = false
  const { engine } = simulation.supervisor(
    interceptCall('record', 'before', () => {
      if (isFull && ++failures < 100) throw new Error('database or disk is full')
      return true
    }),
  )
  await engine.start()
  await engine.create(makeSpec({ agent: 'talker', supervision: { maxTime: 60_000 } }), FILES)
  await simulation.clock.advance(59_000)
  isFull = true
  await simulation.clock.advance(11_000)
  expect(failures).toBeLessThanOrEqual(11)
  isFull = false
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')?.phase).toMatchObject({ outcome: 'stopped' })
})

test('trouble with panes does not keep a supervisor from starting', async () => {
  const simulation = new Simulation({ talker: { run: () => [{ wait: 1_000 }, { say: 'done: it\n' }] } })
  const first = simulation.supervisor()
  await first.engine.start()
  await first.engine.create(makeSpec({ agent: 'talker' }), FILES)
  await simulation.until(() => simulation.session('s1')?.phase.name === 'running')
  await first.engine.shutDown()
  const { engine } = simulation.supervisor(
    interceptCall('repair', 'before', () => {
      throw new Error('no answer from tmux')
    }),
  )
  await engine.start()
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')?.phase).toMatchObject({ outcome: 'done' })
})
