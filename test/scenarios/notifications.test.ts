import { expect, test } from 'vitest'
import { Trouble } from '../../src/lib/errors.ts'
import { ChannelBusy } from '../../src/ports/notifications.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import type { ScriptedProgram } from '../../testkit/in-memory/scripted-process.ts'
import { type CallInterceptor, Simulation, makeSpec, type SpecOverrides } from '../../testkit/in-memory/simulation.ts'
import { flushPromises } from '../../testkit/in-memory/virtual-clock.ts'

const QUICK: ScriptedProgram = { run: () => [{ exit: 0 }] }
const HOUR = 3_600_000

async function onStage(program: ScriptedProgram = QUICK) {
  const simulation = new Simulation({ mute: program })
  const { engine } = simulation.supervisor()
  await engine.start()
  const accept = (id: string, wishes: SpecOverrides = {}) =>
    engine.create(makeSpec({ agent: 'mute', id, name: `mute-${id}`, createdAt: simulation.clock.now(), ...wishes }), {
      prompt: null,
      env: {},
    })
  const hasEnded = (id: string) => simulation.session(id)?.phase.name === 'ended'
  return {
    stage: simulation,
    engine,
    accept,
    hasEnded,
    texts: () => simulation.notificationLog.notifications.map(({ text }) => text),
  }
}

test('the sender notifies the channels that want ends once', async () => {
  const { stage: simulation, accept, texts } = await onStage({ run: () => [{ exit: 3 }] })
  simulation.notificationLog.channels = [
    { name: 'phone', events: ['failed', 'blocked'] },
    { name: 'mail', events: ['done'] },
  ]
  await accept('s1')
  await simulation.until(() => simulation.hasEnded('s1'))
  await simulation.clock.advance(HOUR)
  expect(simulation.notificationLog.delivered.map(line => line.split(' ')[0])).toEqual(['phone'])
  expect(texts()).toEqual(['mute-s1 failed: exit code 3\na task'])
})

test('the sender does not notify about a stop that the user asked for', async () => {
  const { stage: simulation, engine, accept } = await onStage({ run: () => [{ wait: HOUR }] })
  await accept('s1')
  await simulation.until(() => simulation.session('s1')?.phase.name === 'running')
  await engine.stop(testSessionId('s1'))
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.notificationLog.delivered).toEqual([])
})

test('the sender retries a failing channel after 5, 10, 20 … seconds, and delivers once', async () => {
  const { stage: simulation, accept } = await onStage()
  const tried: number[] = []
  simulation.notificationLog.obstacle = () => {
    tried.push(simulation.clock.now())
    if (tried.length < 4) throw new Trouble('notifying phone', 'it answered with status 500')
  }
  await accept('s1')
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(tried.slice(1).map((at, i) => (at - (tried[i] ?? 0)) / 1000)).toEqual([5, 10, 20])
  expect(simulation.notificationLog.delivered).toHaveLength(1)
  expect(simulation.logLines).toEqual([
    'phone did not accept a notification, oneshot tries again: it answered with status 500',
  ])
})

test('the sender waits as long as a busy channel asks for', async () => {
  const { stage: simulation, accept } = await onStage()
  const tried: number[] = []
  simulation.notificationLog.obstacle = () => {
    if (tried.push(simulation.clock.now()) === 1) throw new ChannelBusy('notifying phone', 'too many requests', 90_000)
  }
  await accept('s1')
  await simulation.until(() => simulation.hasEnded('s1'))
  expect((tried[1] ?? 0) - (tried[0] ?? 0)).toBe(90_000)
})

test('the sender gives up a notice after a day with a log line, and sends the next one', async () => {
  const { stage: simulation, accept, hasEnded, texts } = await onStage()
  let isDead = true
  simulation.notificationLog.obstacle = () => {
    if (isDead) throw new Trouble('notifying phone', 'connection refused')
  }
  await accept('s1')
  await simulation.until(() => hasEnded('s1'))
  await simulation.clock.advance(23 * HOUR)
  expect(simulation.hasOutgoing()).toBe(true)
  await simulation.clock.advance(2 * HOUR)
  expect(simulation.hasOutgoing()).toBe(false)
  expect(simulation.logLines.at(-1)).toBe(
    'oneshot gave up a notification to phone: mute-s1 is done: exit code 0 (connection refused)',
  )
  isDead = false
  await accept('s2')
  await simulation.until(() => simulation.hasEnded('s2'))
  expect(texts()).toEqual(['mute-s2 is done: exit code 0\na task'])
})

test('a channel that hangs delays neither the work nor another channel', async () => {
  const { stage: simulation, accept, hasEnded } = await onStage()
  simulation.notificationLog.channels = ['dead', 'phone'].map(name => ({ name, events: ['done'] }))
  simulation.notificationLog.obstacle = channel => (channel === 'dead' ? new Promise<void>(() => undefined) : undefined)
  const begun = simulation.clock.now()
  await accept('s1')
  await simulation.until(() => hasEnded('s1'))
  await accept('s2')
  await simulation.until(() => hasEnded('s2') && simulation.notificationLog.delivered.length === 2)
  expect(simulation.clock.now() - begun).toBeLessThan(1_000)
  await simulation.clock.advance(15_000)
  expect(simulation.logLines).toEqual([
    'dead did not accept a notification, oneshot tries again: no answer within 15 s',
  ])
  expect(simulation.notificationLog.delivered.every(line => line.startsWith('phone '))).toBe(true)
})

test('the sender holds back more than twenty notices a minute, and joins them if they are too many', async () => {
  const { stage: simulation, accept, hasEnded, texts } = await onStage()
  const ids = Array.from({ length: 60 }, (_, i) => `s${i + 1}`)
  for (const id of ids) await accept(id)
  await simulation.until(() => ids.every(hasEnded))
  await flushPromises()
  expect(texts()).toHaveLength(20)
  await simulation.until(() => !simulation.hasOutgoing())
  expect(texts()).toHaveLength(21)
  expect(texts().at(-1)).toMatch(/^40 notices since 1 min ago:\n… and 30 before these\nmute-s\d+ is done/)
  expect(
    new Set(simulation.notificationLog.notifications.at(-1)?.document.notices?.map(({ session }) => session?.name))
      .size,
  ).toBe(40)
})

test('the sender sends equal notices about one session at most once a minute', async () => {
  const simulation = new Simulation({})
  const { engine } = simulation.supervisor()
  const begun = simulation.clock.now()
  for (const after of [0, 50_000, 100_000, 130_000]) {
    const at = begun + after
    simulation.disk.notices.push({
      id: `s1-${after}-blocked`,
      isAddressed: false,
      body: JSON.stringify({
        id: `s1-${after}-blocked`,
        kind: 'blocked',
        at,
        text: 'mute-task waits for you: which?',
        command: null,
        reason: 'which?',
        session: { id: 's1', name: 'mute-task', agent: 'mute', title: '', cwd: '/', tty: null },
      }),
    })
  }
  await engine.start()
  await simulation.until(() => !simulation.hasOutgoing())
  expect(simulation.notificationLog.delivered).toEqual(['phone s1-0-blocked', 'phone s1-100000-blocked'])
})

test('notices wait while the configuration cannot be read, and no work suffers', async () => {
  const { stage: simulation, accept, hasEnded } = await onStage()
  const channels = simulation.notificationLog.channels
  Object.defineProperty(simulation.notificationLog, 'channels', {
    configurable: true,
    get: () => {
      throw new Error('config.toml:3:1 is not TOML')
    },
  })
  await accept('s1')
  await accept('s2')
  await simulation.until(() => hasEnded('s1') && hasEnded('s2'))
  await simulation.clock.advance(HOUR)
  expect(simulation.troubles.map(String)).toEqual(['Error: config.toml:3:1 is not TOML'])
  Object.defineProperty(simulation.notificationLog, 'channels', { value: channels })
  await simulation.until(() => !simulation.hasOutgoing())
  expect(simulation.notificationLog.delivered).toHaveLength(2)
})

test('a notice outlives its session', async () => {
  const { stage: simulation, engine, accept, hasEnded, texts } = await onStage()
  let isDead = true
  simulation.notificationLog.obstacle = () => {
    if (isDead) throw new Trouble('notifying phone', 'connection refused')
  }
  await accept('s1')
  await simulation.until(() => hasEnded('s1') && simulation.disk.outbox.length === 0)
  expect(await engine.remove(testSessionId('s1'))).toBe(true)
  isDead = false
  await simulation.until(() => !simulation.hasOutgoing())
  expect(texts()).toEqual(['mute-s1 is done: exit code 0\na task'])
})

test('an old notice says how old it is', async () => {
  const { stage: simulation, accept, hasEnded, texts } = await onStage()
  let isDead = true
  simulation.notificationLog.obstacle = () => {
    if (isDead) throw new Trouble('notifying phone', 'connection refused')
  }
  await accept('s1')
  await simulation.until(() => hasEnded('s1'))
  await simulation.clock.advance(HOUR)
  isDead = false
  await simulation.until(() => !simulation.hasOutgoing())
  expect(texts()[0]).toMatch(/^mute-s1 is done: exit code 0 \(1 h( \d+ min)? ago\)\na task$/)
})

test('the hook queue records a hook that fails or hangs, does not run it again, and delays nothing', async () => {
  const { stage: simulation, accept, hasEnded } = await onStage()
  simulation.notificationLog.hook = ({ session }) =>
    session.spec.id === 's1' ? new Promise(() => undefined) : Promise.resolve({ ok: false, reason: 'exit code 9' })
  await accept('s1', { supervision: { onExit: ['/bin/hangs'] } })
  await simulation.until(() => hasEnded('s1'))
  await accept('s2', { supervision: { onExit: ['/bin/fails'] } })
  await simulation.until(() => hasEnded('s2'))
  await flushPromises()
  expect(simulation.events('s2').at(-1)).toMatchObject({ type: 'hook.ended', ok: false, reason: 'exit code 9' })
  await simulation.clock.advance(HOUR)
  expect(simulation.events('s1').at(-1)).toMatchObject({
    type: 'hook.ended',
    ok: false,
    reason: 'running it: no answer within 10 min',
  })
  expect(simulation.notificationLog.hookRuns).toHaveLength(2)
  expect(simulation.logLines).toHaveLength(2)
})

test('the hook queue runs all hooks of many sessions, four at a time', async () => {
  const { stage: simulation, accept, hasEnded } = await onStage()
  const finish: (() => void)[] = []
  simulation.notificationLog.hook = () =>
    new Promise(resolve => finish.push(() => resolve({ ok: true, reason: 'exit code 0' })))
  const ids = Array.from({ length: 10 }, (_, i) => `s${i + 1}`)
  for (const id of ids) await accept(id, { supervision: { onExit: ['/bin/slow'] } })
  await simulation.until(() => ids.every(hasEnded))
  await flushPromises()
  expect(finish).toHaveLength(4)
  for (let next = finish.shift(); next !== undefined; next = finish.shift()) {
    next()
    await flushPromises()
  }
  expect(simulation.notificationLog.hookRuns).toHaveLength(10)
  expect(simulation.hasOutgoing()).toBe(false)
})

test('the hook queue runs the hook of a session that the user removes at once', async () => {
  const { stage: simulation, engine, accept, hasEnded } = await onStage()
  simulation.notificationLog.hook = () => new Promise(() => undefined)
  const ids = Array.from({ length: 9 }, (_, i) => `s${i + 1}`)
  for (const id of ids) await accept(id, { supervision: { onExit: ['/bin/slow'] } })
  await simulation.until(() => ids.every(hasEnded) && simulation.disk.outbox.length === 0)
  await flushPromises()
  expect(simulation.notificationLog.hookRuns).toHaveLength(4)
  await engine.remove(testSessionId('s9'))
  expect(simulation.notificationLog.hookRuns.filter(id => id.startsWith('s9-'))).toHaveLength(1)
  await accept('s10', { supervision: { onExit: ['/bin/slow'] } })
  await simulation.until(() => hasEnded('s10'))
  await flushPromises()
  expect(simulation.notificationLog.hookRuns).toHaveLength(5)
})

test('a full disk makes the supervisor send no notification and run no hook twice', async () => {
  const simulation = new Simulation({ mute: QUICK })
  const full = new FullDisk(['settleDeliveries', 'settleHook'], 5)
  const { engine } = simulation.supervisor(full)
  await engine.start()
  const spec = makeSpec({ agent: 'mute', supervision: { onExit: ['/bin/hook'] }, createdAt: simulation.clock.now() })
  await engine.create(spec, { prompt: null, env: {} })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(full.failures).toBe(5)
  expect([simulation.notificationLog.delivered.length, simulation.notificationLog.hookRuns.length]).toEqual([1, 1])
})

/** Fails these calls, so many in all. */
class FullDisk implements CallInterceptor {
  failures = 0
  readonly #calls: readonly string[]
  readonly #times: number

  constructor(calls: readonly string[], times: number) {
    this.#calls = calls
    this.#times = times
  }

  wrap<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        const call = (...args: unknown[]): unknown => value.apply(target, args)
        return this.#calls.includes(String(name)) ? (...args: unknown[]) => this.#fail() ?? call(...args) : call
      },
    })
  }

  #fail(): undefined {
    if (this.failures++ < this.#times) throw new Error('database or disk is full')
    this.failures = this.#times
  }
}
