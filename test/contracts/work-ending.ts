import { expect, test } from 'vitest'
import { type Given, HELLO, next, PATIENT, said } from './work-bench.ts'

/** How a program is asked to stop, ended and followed by another, and who hears of it. */
export function promisesOfEnding(given: Given): void {
  test('an interrupt reaches the program, and only once', async () => {
    const order = await given.running({
      sh: `trap 'echo caught; n=$((n + 1)); [ $n -ge 2 ] && exit 2' INT; echo ready; n=0; while [ ! -e stop ]; do sleep 0.05; done`,
      deeds: [{ say: 'ready\n' }, { wait: Infinity }],
      onInterrupt: [{ say: 'caught\n' }, { wait: Infinity }],
    })
    await given.bench.work.interrupt(order)
    await given.bench.until('it was caught', () => said(given.bench.work, order).includes('caught'))
    await given.bench.work.interrupt(order)
    await given.bench.another().interrupt(order)
    await given.bench.work.sweep(order, { force: true })
    expect(said(given.bench.work, order).match(/caught/g)).toHaveLength(1)
  })

  test('a program can be asked to end by itself', async () => {
    const order = await given.running({
      sh: `trap 'echo bye; exit 9' TERM; echo ready; while :; do sleep 0.05; done`,
      deeds: [{ say: 'ready\n' }, { wait: Infinity }],
      deafTo: [],
    })
    await given.bench.work.terminate(order)
    await given.bench.until('it has ended', () => given.bench.work.evidence(order).exit !== null)
  })

  test('asking what is not there changes nothing', async () => {
    const order = await given.bench.order(HELLO, { mode: given.mode })
    await given.bench.work.interrupt(order)
    await given.bench.work.terminate(order)
    await given.bench.work.close(order)
    expect(given.bench.work.evidence(order).isClaimed).toBe(false)
  })

  test('a sweep ends what a program left behind, and returns when it is gone', async () => {
    const order = await given.ended({
      sh: 'sleep 1000 & (exec sleep 1001) & echo ready',
      deeds: [{ litter: 'a tool' }, { say: 'ready\n' }],
    })
    await given.bench.work.sweep(order, { force: false })
    expect(given.bench.alive(order)).toBe(0)
    await given.bench.work.sweep(order, { force: false })
    expect(given.bench.work.evidence(order).exit).toEqual({ kind: 'code', code: 0 })
  })

  test('a sweep ends a program that will not listen', async () => {
    const order = await given.running({
      sh: `trap '' INT TERM HUP; echo ready; while :; do sleep 0.1; done`,
      deeds: [{ say: 'ready\n' }, { wait: Infinity }],
      deafTo: ['SIGINT', 'SIGTERM'],
    })
    await given.bench.work.sweep(order, { force: true })
    expect(given.bench.alive(order)).toBe(0)
    expect(given.bench.work.evidence(order).process).toBe('dead')
  })

  test('an attempt that was swept before it lived never comes to life', async () => {
    const order = await given.bench.order(PATIENT, { mode: given.mode })
    await given.bench.work.sweep(order, { force: true })
    await given.bench.work.launch(order)
    expect(given.bench.work.evidence(order)).toMatchObject({ isClaimed: true, life: null, shim: 'dead' })
    const second = next(order)
    await given.bench.work.launch(second)
    await given.bench.until('its successor lives', () => given.bench.work.evidence(second).life !== null)
    await given.bench.work.sweep(second, { force: true })
    expect(given.bench.work.evidence(order).life).toBeNull()
  })

  test('an attempt swept in the middle of its launch leaves nothing alive, however far it had come', async () => {
    for (let round = 0; round < 4; round++) {
      const order = await given.bench.order(PATIENT, { mode: given.mode })
      await given.bench.work.launch(order)
      await given.bench.work.sweep(order, { force: true })
      const { process } = given.bench.work.evidence(order)
      expect(process).not.toBe('alive')
      expect(given.bench.alive(order)).toBe(0)
      const second = next(order)
      await given.bench.work.launch(second)
      await given.bench.until('its successor lives', () => given.bench.work.evidence(second).life !== null)
      expect(given.bench.alive(order), 'nothing of the first came to life since').toBe(0)
      await given.bench.work.sweep(second, { force: true })
      await given.bench.work.close(second)
    }
  })

  test('a second attempt is refused while the first one lives', async () => {
    const order = await given.running(PATIENT)
    const second = next(order)
    await given.bench.work.launch(second)
    await given.bench.until('it is refused', () => given.bench.work.evidence(second).refusal !== null)
    expect(given.bench.work.evidence(second)).toMatchObject({ life: null, exit: null })
    expect(given.bench.work.evidence(order).process).toBe('alive')
    await given.bench.work.sweep(second, { force: true })
    await given.bench.work.sweep(order, { force: true })
  })

  test('an attempt is refused while another session uses its thread, and not in another', async () => {
    const { bench } = given
    const { work } = bench
    const thread = 'talker-t 1/ü' // An agent may call it what it likes.
    const first = await given.launched(PATIENT, { thread })
    await bench.until('the first is at work', () => said(work, first).includes('ready'))
    const second = await given.launched(PATIENT, { thread })
    await bench.until('the second is refused', () => work.evidence(second).refusal !== null)
    expect(work.evidence(second)).toMatchObject({ refusal: 'another session uses its thread now', life: null })
    const other = await given.launched(HELLO, { thread: 'talker-t2' })
    await bench.until('another thread is free', () => work.evidence(other).exit !== null)
    await work.sweep(first, { force: true })
    const third = await given.launched(HELLO, { thread })
    await bench.until('the thread is free again', () => work.evidence(third).exit !== null)
  })

  test('an attempt follows when nothing is left of the one before', async () => {
    const order = await given.ended(HELLO)
    await given.bench.work.sweep(order, { force: false })
    const second = next(order)
    await given.bench.work.launch(second)
    await given.bench.until('it has ended', () => given.bench.work.evidence(second).exit !== null)
    await given.bench.work.sweep(second, { force: false })
    expect([said(given.bench.work, order), said(given.bench.work, second)]).toEqual(['hello\n', 'hello\n'])
  })

  test('one that left nothing behind is known to be alone where that can be told, and one that did is not', async () => {
    const { bench } = given
    const alone = await given.ended(HELLO)
    expect(bench.work.evidence(alone).isAlone).toBe(given.mode === 'headless' && bench.hasGroups)
    const littered = await given.ended({
      sh: 'sleep 1000 & echo ready',
      deeds: [{ litter: 'a tool' }, { say: 'ready\n' }],
    })
    expect(bench.work.evidence(littered).isAlone).toBe(false)
    for (const order of [alone, littered]) await bench.work.sweep(order, { force: false })
  })

  test('an attempt may follow one that is not swept yet, and is not touched when that one is', async ({ skip }) => {
    const { bench } = given
    if (given.mode === 'tty') return skip('what a terminal says last is taken down by the sweep')
    const first = await given.ended(HELLO)
    const second = next(first)
    await bench.work.launch(second)
    await bench.until('it has ended', () => bench.work.evidence(second).exit !== null)
    const third = next(second)
    await bench.work.launch(third)
    await bench.until('it lives', () => bench.work.evidence(third).life !== null)
    for (const order of [first, second]) await bench.work.sweep(order, { force: true })
    await bench.until('it has ended', () => bench.work.evidence(third).exit !== null)
    expect(bench.work.evidence(third)).toMatchObject({ exit: { kind: 'code', code: 0 }, refusal: null })
    expect([first, second, third].map(order => said(bench.work, order))).toEqual(['hello\n', 'hello\n', 'hello\n'])
    await bench.work.sweep(third, { force: false })
  })

  test('who listens hears of a start and of an end, and who comes later hears what nobody has heard', async () => {
    const order = await given.bench.order(
      { sh: 'while [ ! -e go ]; do sleep 0.02; done', deeds: [{ wait: 500 }] },
      { mode: given.mode },
    )
    const heard: string[] = []
    given.bench.work.onNews(id => heard.push(id))
    await given.bench.work.launch(order)
    await given.bench.until(
      'its start is heard',
      () => heard.length > 0 && given.bench.work.evidence(order).life !== null,
    )
    given.bench.work.heard(order)
    given.bench.work.shutDown()
    if (given.bench.work.evidence(order).exit === null) await given.bench.work.sweep(order, { force: true })
    await given.bench.until('it has ended', () => given.bench.work.evidence(order).exit !== null)
    const late: string[] = []
    const other = given.bench.another()
    other.onNews(id => late.push(id))
    await given.bench.until('its end is heard', () => late.length > 0)
    other.heard(order)
    other.shutDown()
    expect([...new Set([...heard, ...late])]).toEqual([order.sessionId])
  })

  test('new output is news while it is watched', async () => {
    const order = await given.running({
      sh: `trap 'echo more' INT; echo ready; while :; do sleep 0.05; done`,
      deeds: [{ say: 'ready\n' }, { wait: Infinity }],
      onInterrupt: [{ say: 'more\n' }, { wait: Infinity }],
    })
    let news = 0
    given.bench.work.onNews(() => news++)
    await given.bench.until('what lay there is told', () => news > 0)
    given.bench.work.heard(order)
    given.bench.work.watch(order, true)
    const before = news
    await given.bench.work.interrupt(order)
    await given.bench.until(
      'it is told of the output',
      () => news > before && said(given.bench.work, order).includes('more'),
    )
    given.bench.work.watch(order, false)
    given.bench.work.shutDown()
  })

  test('what was launched goes on when its supervisor is gone, and another one sees it', async () => {
    const order = await given.running(PATIENT)
    const { life } = given.bench.work.evidence(order)
    given.bench.work.shutDown()
    const other = given.bench.another()
    expect(other.evidence(order)).toMatchObject({ life, process: 'alive' })
    await other.sweep(order, { force: true })
    expect(other.evidence(order).process).toBe('dead')
  })

  test('closed and removed, twice, nothing is left and nothing fails', async () => {
    const order = await given.ended(HELLO)
    await given.bench.work.sweep(order, { force: false })
    for (let times = 0; times < 2; times++) {
      await given.bench.work.close(order)
      await given.bench.work.remove(order.sessionId)
    }
    expect(said(given.bench.work, order)).toBe('')
  })

  test('measuring a log that is not there, or twice, is fine', async () => {
    const order = await given.bench.order(HELLO, { mode: given.mode })
    given.bench.work.measure(order, 'transcript')
    await given.bench.work.launch(order)
    await given.bench.until('it has ended', () => given.bench.work.evidence(order).exit !== null)
    for (let times = 0; times < 2; times++) given.bench.work.measure(order, 'output')
  })
}
