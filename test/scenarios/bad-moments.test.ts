import { expect, test } from 'vitest'
import { interlude } from '../../src/testkit/memory/interlude.ts'
import { Stage, specOf } from '../../src/testkit/memory/stage.ts'

const FILES = { prompt: Buffer.from('do it'), env: {} }
const FIRST = { sessionId: 's1', attempt: 1 }

test('an exit in the very moment in which the start is being recorded is not overlooked', async () => {
  const stage = new Stage({ mute: { run: () => [{ wait: Infinity }] } })
  const dieNow = (): boolean => {
    stage.machine.attempt(FIRST).process?.signal('SIGKILL')
    return false
  }
  const { engine } = stage.supervisor(interlude('heard', 'before', dieNow))
  await engine.start()
  await engine.create(specOf({ agent: 'mute' }), FILES)
  await stage.until(() => stage.hasEnded('s1'))
  expect(stage.session('s1')?.exit).toEqual({ kind: 'signal', signal: 'SIGKILL' })
})

test('last words spoken while nobody listened, by an agent whose shim was killed, are heard', async () => {
  const stage = new Stage({
    talker: { run: () => [{ say: 'I begin\n' }, { wait: 1_000 }, { say: 'done: all of it\n' }] },
  })
  let isShimKilled = false
  const speakAndDie = (): boolean => {
    if (!isShimKilled) return true
    stage.machine.attempt(FIRST).process?.go()
    return false
  }
  const { engine } = stage.supervisor(interlude('read', 'after', speakAndDie))
  await engine.start()
  await engine.create(specOf({ agent: 'talker' }), FILES)
  await stage.until(() => stage.session('s1')?.phase.name === 'running')
  stage.machine.attempt(FIRST).isShimAlive = false
  isShimKilled = true
  await engine.reconcile()
  await engine.reconcile()
  expect(stage.session('s1')?.lastWord).toEqual({ ok: true, text: 'all of it' })
})

test('the rest of a torn line that a terminal is still to give, after the death of its program, belongs to that line', async () => {
  const stage = new Stage({ talker: { run: () => [{ say: 'I begin\ndone: all' }] } })
  const give = (): boolean => {
    const attempt = stage.machine.attempt(FIRST)
    attempt.output = Buffer.concat([attempt.output, Buffer.from(' of it\n')])
    return false
  }
  const { engine } = stage.supervisor(interlude('sweep', 'before', give))
  await engine.start()
  await engine.create(specOf({ agent: 'talker', mode: 'tty' }), FILES)
  await stage.until(() => stage.hasEnded('s1'))
  expect(stage.session('s1')).toMatchObject({ attempt: 1, lastWord: { ok: true, text: 'all of it' } })
  expect(stage.transcript('s1')).toContain('\ndone: all of it\n')
})

test('a line without an end is told when the agent has vanished', async () => {
  const stage = new Stage({ talker: { run: () => [{ say: 'I was about to' }, { wait: Infinity }] } })
  const { engine } = stage.supervisor()
  await engine.start()
  await engine.create(specOf({ agent: 'talker', restart: { ...specOf({ agent: 'talker' }).restart, limit: 0 } }), FILES)
  await stage.until(() => stage.session('s1')?.phase.name === 'running')
  stage.machine.attempt(FIRST).isShimAlive = false
  stage.machine.attempt(FIRST).process?.signal('SIGKILL')
  await engine.reconcile()
  await stage.until(() => stage.hasEnded('s1'))
  expect(stage.transcript('s1').split('\n')[0]).toBe('I was about to')
})

test('an agent that asks before we have seen it start is known all the same', async () => {
  const stage = new Stage({ talker: { run: () => [{ say: 'ask: may I?\n' }, { wait: Infinity }] } })
  let hasSeen = false
  const unseen = stage.machine.attempt(FIRST)
  const { engine } = stage.supervisor({
    feed: port =>
      new Proxy(port, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name, target)
          if (typeof value !== 'function') return value
          if (name !== 'evidence') return value.bind(target)
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
  await engine.create(specOf({ agent: 'talker' }), FILES)
  await stage.until(() => stage.session('s1')?.phase.name === 'blocked')
  await engine.reconcile()
  expect(stage.session('s1')).toMatchObject({ phase: { name: 'blocked' }, life: { pid: 1_001 } })
})

test('a stop overtakes a launch that could not be performed yet', async () => {
  const stage = new Stage({ talker: { run: () => [{ wait: Infinity }] } })
  let hasTmux = false
  const { engine } = stage.supervisor(
    interlude('launch', 'before', () => {
      if (!hasTmux) throw new Error('tmux is not installed')
      return true
    }),
  )
  await engine.start()
  await engine.create(specOf({ agent: 'talker' }), FILES)
  await stage.until(() => stage.troubles.length > 0)
  hasTmux = true
  await engine.stop('s1')
  await stage.until(() => stage.hasEnded('s1'))
  expect(stage.machine.starts).toEqual([])
  expect(stage.session('s1')?.phase).toMatchObject({ outcome: 'stopped' })
})

test('a disk that is full when an alarm rings is tried again at leisure, and the alarm is not forgotten', async () => {
  const stage = new Stage({ talker: { run: () => [{ wait: Infinity }] } })
  let failures = 0
  let isFull = false
  const { engine } = stage.supervisor(
    interlude('record', 'before', () => {
      if (isFull && ++failures < 100) throw new Error('database or disk is full')
      return true
    }),
  )
  await engine.start()
  await engine.create(specOf({ agent: 'talker', maxTime: 60_000 }), FILES)
  await stage.clock.pass(59_000)
  isFull = true
  await stage.clock.pass(11_000)
  expect(failures).toBeLessThanOrEqual(11)
  isFull = false
  await stage.until(() => stage.hasEnded('s1'))
  expect(stage.session('s1')?.phase).toMatchObject({ outcome: 'stopped' })
})

test('trouble with panes does not keep a supervisor from starting', async () => {
  const stage = new Stage({ talker: { run: () => [{ wait: 1_000 }, { say: 'done: it\n' }] } })
  const first = stage.supervisor()
  await first.engine.start()
  await first.engine.create(specOf({ agent: 'talker' }), FILES)
  await stage.until(() => stage.session('s1')?.phase.name === 'running')
  await first.engine.shutDown()
  const { engine } = stage.supervisor(
    interlude('mend', 'before', () => {
      throw new Error('no answer from tmux')
    }),
  )
  await engine.start()
  await stage.until(() => stage.hasEnded('s1'))
  expect(stage.session('s1')?.phase).toMatchObject({ outcome: 'done' })
})
