import { expect, test } from 'vitest'
import { type RuntimeTestContext, HELLO, nextAttempt, PATIENT, outputOf } from './runtime-fixture.ts'

/** Tests how the runtime interrupts a program, ends it and starts the next attempt, and who gets notified. */
export function testExits(given: RuntimeTestContext): void {
  test('an interrupt reaches the program, and only once', async () => {
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

  test('a program can be asked to end by itself', async () => {
    const spec = await given.running({
      sh: `trap 'echo bye; exit 9' TERM; echo ready; while :; do sleep 0.05; done`,
      steps: [{ say: 'ready\n' }, { wait: Infinity }],
      ignoredSignals: [],
    })
    await given.bench.work.terminate(spec)
    await given.bench.until('it has ended', () => given.bench.work.attemptState(spec).exit !== null)
  })

  test('asking what is not there changes nothing', async () => {
    const spec = await given.bench.order(HELLO, { mode: given.mode })
    await given.bench.work.interrupt(spec)
    await given.bench.work.terminate(spec)
    await given.bench.work.closePanes(spec)
    expect(given.bench.work.attemptState(spec).isClaimed).toBe(false)
  })

  test('a sweep ends what a program left behind, and returns when it is gone', async () => {
    const spec = await given.ended({
      sh: 'sleep 1000 & (exec sleep 1001) & echo ready',
      steps: [{ litter: 'a tool' }, { say: 'ready\n' }],
    })
    await given.bench.work.sweep(spec, { force: false })
    expect(given.bench.alive(spec)).toBe(0)
    await given.bench.work.sweep(spec, { force: false })
    expect(given.bench.work.attemptState(spec).exit).toEqual({ kind: 'code', code: 0 })
  })

  test('a sweep ends a program that will not listen', async () => {
    const spec = await given.running({
      sh: `trap '' INT TERM HUP; echo ready; while :; do sleep 0.1; done`,
      steps: [{ say: 'ready\n' }, { wait: Infinity }],
      ignoredSignals: ['SIGINT', 'SIGTERM'],
    })
    await given.bench.work.sweep(spec, { force: true })
    expect(given.bench.alive(spec)).toBe(0)
    expect(given.bench.work.attemptState(spec).process).toBe('dead')
  })

  test('an attempt that was swept before it lived never comes to life', async () => {
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

  test('an attempt swept in the middle of its launch leaves nothing alive, however far it had come', async () => {
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

  test('a second attempt is refused while the first one lives', async () => {
    const spec = await given.running(PATIENT)
    const second = nextAttempt(spec)
    await given.bench.work.launch(second)
    await given.bench.until('it is refused', () => given.bench.work.attemptState(second).refusal !== null)
    expect(given.bench.work.attemptState(second)).toMatchObject({ life: null, exit: null })
    expect(given.bench.work.attemptState(spec).process).toBe('alive')
    await given.bench.work.sweep(second, { force: true })
    await given.bench.work.sweep(spec, { force: true })
  })

  test('an attempt is refused while another session uses its thread, and not in another', async () => {
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

  test('an attempt follows when nothing is left of the one before', async () => {
    const spec = await given.ended(HELLO)
    await given.bench.work.sweep(spec, { force: false })
    const second = nextAttempt(spec)
    await given.bench.work.launch(second)
    await given.bench.until('it has ended', () => given.bench.work.attemptState(second).exit !== null)
    await given.bench.work.sweep(second, { force: false })
    expect([outputOf(given.bench.work, spec), outputOf(given.bench.work, second)]).toEqual(['hello\n', 'hello\n'])
  })

  test('one that left nothing behind is known to be alone where that can be told, and one that did is not', async () => {
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

  test('an attempt may follow one that is not swept yet, and is not touched when that one is', async ({ skip }) => {
    const { bench: fixture } = given
    if (given.mode === 'tty') return skip('what a terminal says last is taken down by the sweep')
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

  test('who listens hears of a start and of an end, and who comes later hears what nobody has heard', async () => {
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

  test('new output is news while it is watched', async () => {
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

  test('what was launched goes on when its supervisor is gone, and another one sees it', async () => {
    const spec = await given.running(PATIENT)
    const { life } = given.bench.work.attemptState(spec)
    given.bench.work.shutDown()
    const other = given.bench.another()
    expect(other.attemptState(spec)).toMatchObject({ life, process: 'alive' })
    await other.sweep(spec, { force: true })
    expect(other.attemptState(spec).process).toBe('dead')
  })

  test('closed and removed, twice, nothing is left and nothing fails', async () => {
    const spec = await given.ended(HELLO)
    await given.bench.work.sweep(spec, { force: false })
    for (let times = 0; times < 2; times++) {
      await given.bench.work.closePanes(spec)
      await given.bench.work.removeSession(spec.sessionId)
    }
    expect(outputOf(given.bench.work, spec)).toBe('')
  })

  test('measuring a log that is not there, or twice, is fine', async () => {
    const spec = await given.bench.order(HELLO, { mode: given.mode })
    given.bench.work.recordLogSize(spec, 'transcript')
    await given.bench.work.launch(spec)
    await given.bench.until('it has ended', () => given.bench.work.attemptState(spec).exit !== null)
    for (let times = 0; times < 2; times++) given.bench.work.recordLogSize(spec, 'output')
  })
}
