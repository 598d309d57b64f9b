import { expect, test } from 'vitest'
import { type RuntimeTestContext, HELLO, nextAttempt, PATIENT, outputOf } from './runtime-fixture.ts'

/** Tests how the runtime interrupts a program, ends it and starts the next attempt, and who gets notified. */
export function testExits(given: RuntimeTestContext): void {
  test('interrupt reaches the program, and only once', async () => {
    const spec = await given.running({
      sh: `trap 'echo caught; n=$((n + 1)); [ $n -ge 2 ] && exit 2' INT; echo ready; n=0; while [ ! -e stop ]; do sleep 0.05; done`,
      steps: [{ say: 'ready\n' }, { wait: Infinity }],
      onInterrupt: [{ say: 'caught\n' }, { wait: Infinity }],
    })
    await given.bench.work.interrupt(spec)
    await given.bench.until('it was caught', () => outputOf(given.bench.work, spec).includes('caught'))
    await given.bench.work.interrupt(spec)
    await given.bench.another().interrupt(spec)
    await given.bench.work.sweep(spec, { force: true })
    expect(outputOf(given.bench.work, spec).match(/caught/g)).toHaveLength(1)
  })

  test('terminate asks the program to end by itself', async () => {
    const spec = await given.running({
      sh: `trap 'echo bye; exit 9' TERM; echo ready; while :; do sleep 0.05; done`,
      steps: [{ say: 'ready\n' }, { wait: Infinity }],
      ignoredSignals: [],
    })
    await given.bench.work.terminate(spec)
    await given.bench.until('it has ended', () => given.bench.work.attemptState(spec).exit !== null)
  })

  test('interrupt, terminate and closePanes change nothing for an attempt that was not launched', async () => {
    const spec = await given.bench.order(HELLO, { mode: given.mode })
    await given.bench.work.interrupt(spec)
    await given.bench.work.terminate(spec)
    await given.bench.work.closePanes(spec)
    expect(given.bench.work.attemptState(spec).isClaimed).toBe(false)
  })

  test('a sweep ends the processes that a program left behind, and returns when they are gone', async () => {
    const spec = await given.ended({
      sh: 'sleep 1000 & (exec sleep 1001) & echo ready',
      steps: [{ litter: 'a tool' }, { say: 'ready\n' }],
    })
    await given.bench.work.sweep(spec, { force: false })
    expect(given.bench.alive(spec)).toBe(0)
    await given.bench.work.sweep(spec, { force: false })
    expect(given.bench.work.attemptState(spec).exit).toEqual({ kind: 'code', code: 0 })
  })

  test('a sweep ends a program that ignores signals', async () => {
    const spec = await given.running({
      sh: `trap '' INT TERM HUP; echo ready; while :; do sleep 0.1; done`,
      steps: [{ say: 'ready\n' }, { wait: Infinity }],
      ignoredSignals: ['SIGINT', 'SIGTERM'],
    })
    await given.bench.work.sweep(spec, { force: true })
    expect(given.bench.alive(spec)).toBe(0)
    expect(given.bench.work.attemptState(spec).process).toBe('dead')
  })

  test('an attempt that was swept before its launch never starts', async () => {
    const spec = await given.bench.order(PATIENT, { mode: given.mode })
    await given.bench.work.sweep(spec, { force: true })
    await given.bench.work.launch(spec)
    expect(given.bench.work.attemptState(spec)).toMatchObject({ isClaimed: true, life: null, shim: 'dead' })
    const second = nextAttempt(spec)
    await given.bench.work.launch(second)
    await given.bench.until('its successor lives', () => given.bench.work.attemptState(second).life !== null)
    await given.bench.work.sweep(second, { force: true })
    expect(given.bench.work.attemptState(spec).life).toBeNull()
  })

  test('a sweep in the middle of a launch leaves no process alive', async () => {
    for (let round = 0; round < 4; round++) {
      const spec = await given.bench.order(PATIENT, { mode: given.mode })
      await given.bench.work.launch(spec)
      await given.bench.work.sweep(spec, { force: true })
      const { process } = given.bench.work.attemptState(spec)
      expect(process).not.toBe('alive')
      expect(given.bench.alive(spec)).toBe(0)
      const second = nextAttempt(spec)
      await given.bench.work.launch(second)
      await given.bench.until('its successor lives', () => given.bench.work.attemptState(second).life !== null)
      expect(given.bench.alive(spec), 'nothing of the first came to life since').toBe(0)
      await given.bench.work.sweep(second, { force: true })
      await given.bench.work.closePanes(second)
    }
  })

  test('the shim refuses a second attempt while the first one lives', async () => {
    const spec = await given.running(PATIENT)
    const second = nextAttempt(spec)
    await given.bench.work.launch(second)
    await given.bench.until('it is refused', () => given.bench.work.attemptState(second).refusal !== null)
    expect(given.bench.work.attemptState(second)).toMatchObject({ life: null, exit: null })
    expect(given.bench.work.attemptState(spec).process).toBe('alive')
    await given.bench.work.sweep(second, { force: true })
    await given.bench.work.sweep(spec, { force: true })
  })

  test('the shim refuses an attempt only while another session uses the same thread', async () => {
    const { bench: fixture } = given
    const { work: runtime } = fixture
    const thread = 'talker-t 1/ü' // An agent may choose any name.
    const first = await given.launched(PATIENT, { thread })
    await fixture.until('the first is at work', () => outputOf(runtime, first).includes('ready'))
    const second = await given.launched(PATIENT, { thread })
    await fixture.until('the second is refused', () => runtime.attemptState(second).refusal !== null)
    expect(runtime.attemptState(second)).toMatchObject({ refusal: 'another session uses its thread now', life: null })
    const other = await given.launched(HELLO, { thread: 'talker-t2' })
    await fixture.until('another thread is free', () => runtime.attemptState(other).exit !== null)
    await runtime.sweep(first, { force: true })
    const third = await given.launched(HELLO, { thread })
    await fixture.until('the thread is free again', () => runtime.attemptState(third).exit !== null)
  })

  test('the next attempt starts after the sweep of the one before', async () => {
    const spec = await given.ended(HELLO)
    await given.bench.work.sweep(spec, { force: false })
    const second = nextAttempt(spec)
    await given.bench.work.launch(second)
    await given.bench.until('it has ended', () => given.bench.work.attemptState(second).exit !== null)
    await given.bench.work.sweep(second, { force: false })
    expect([outputOf(given.bench.work, spec), outputOf(given.bench.work, second)]).toEqual(['hello\n', 'hello\n'])
  })

  test('isTreeEmpty is true only for a headless attempt in a control group that left no process behind', async () => {
    const { bench: fixture } = given
    const alone = await given.ended(HELLO)
    expect(fixture.work.attemptState(alone).isTreeEmpty).toBe(given.mode === 'headless' && fixture.hasGroups)
    const littered = await given.ended({
      sh: 'sleep 1000 & echo ready',
      steps: [{ litter: 'a tool' }, { say: 'ready\n' }],
    })
    expect(fixture.work.attemptState(littered).isTreeEmpty).toBe(false)
    for (const spec of [alone, littered]) await fixture.work.sweep(spec, { force: false })
  })

  test('an attempt can start before the sweep of the one before, and that sweep does not end it', async ({ skip }) => {
    const { bench: fixture } = given
    if (given.mode === 'tty') return skip('the sweep records the last output of a terminal')
    const first = await given.ended(HELLO)
    const second = nextAttempt(first)
    await fixture.work.launch(second)
    await fixture.until('it has ended', () => fixture.work.attemptState(second).exit !== null)
    const third = nextAttempt(second)
    await fixture.work.launch(third)
    await fixture.until('it lives', () => fixture.work.attemptState(third).life !== null)
    for (const spec of [first, second]) await fixture.work.sweep(spec, { force: true })
    await fixture.until('it has ended', () => fixture.work.attemptState(third).exit !== null)
    expect(fixture.work.attemptState(third)).toMatchObject({ exit: { kind: 'code', code: 0 }, refusal: null })
    expect([first, second, third].map(spec => outputOf(fixture.work, spec))).toEqual(['hello\n', 'hello\n', 'hello\n'])
    await fixture.work.sweep(third, { force: false })
  })

  test('a listener learns of a start and an end, and a later one learns what nobody has acknowledged', async () => {
    const spec = await given.bench.order(
      { sh: 'while [ ! -e go ]; do sleep 0.02; done', steps: [{ wait: 500 }] },
      { mode: given.mode },
    )
    const heard: string[] = []
    given.bench.work.onChange(id => heard.push(id))
    await given.bench.work.launch(spec)
    await given.bench.until(
      'its start is heard',
      () => heard.length > 0 && given.bench.work.attemptState(spec).life !== null,
    )
    given.bench.work.acknowledge(spec)
    given.bench.work.shutDown()
    if (given.bench.work.attemptState(spec).exit === null) await given.bench.work.sweep(spec, { force: true })
    await given.bench.until('it has ended', () => given.bench.work.attemptState(spec).exit !== null)
    const late: string[] = []
    const other = given.bench.another()
    other.onChange(id => late.push(id))
    await given.bench.until('its end is heard', () => late.length > 0)
    other.acknowledge(spec)
    other.shutDown()
    expect([...new Set([...heard, ...late])]).toEqual([spec.sessionId])
  })

  test('a listener learns of new output while the runtime watches it', async () => {
    const spec = await given.running({
      sh: `trap 'echo more' INT; echo ready; while :; do sleep 0.05; done`,
      steps: [{ say: 'ready\n' }, { wait: Infinity }],
      onInterrupt: [{ say: 'more\n' }, { wait: Infinity }],
    })
    let news = 0
    given.bench.work.onChange(() => news++)
    await given.bench.until('what lay there is told', () => news > 0)
    given.bench.work.acknowledge(spec)
    given.bench.work.watchOutput(spec, true)
    const before = news
    await given.bench.work.interrupt(spec)
    await given.bench.until(
      'it is told of the output',
      () => news > before && outputOf(given.bench.work, spec).includes('more'),
    )
    given.bench.work.watchOutput(spec, false)
    given.bench.work.shutDown()
  })

  test('a program continues without its supervisor, and the next one sees it', async () => {
    const spec = await given.running(PATIENT)
    const { life } = given.bench.work.attemptState(spec)
    given.bench.work.shutDown()
    const other = given.bench.another()
    expect(other.attemptState(spec)).toMatchObject({ life, process: 'alive' })
    await other.sweep(spec, { force: true })
    expect(other.attemptState(spec).process).toBe('dead')
  })

  test('closePanes and removeSession leave nothing, and a second call does no harm', async () => {
    const spec = await given.ended(HELLO)
    await given.bench.work.sweep(spec, { force: false })
    for (let times = 0; times < 2; times++) {
      await given.bench.work.closePanes(spec)
      await given.bench.work.removeSession(spec.sessionId)
    }
    expect(outputOf(given.bench.work, spec)).toBe('')
  })

  test('recordLogSize accepts a missing log and a second call', async () => {
    const spec = await given.bench.order(HELLO, { mode: given.mode })
    given.bench.work.recordLogSize(spec, 'transcript')
    await given.bench.work.launch(spec)
    await given.bench.until('it has ended', () => given.bench.work.attemptState(spec).exit !== null)
    for (let times = 0; times < 2; times++) given.bench.work.recordLogSize(spec, 'output')
  })
}
