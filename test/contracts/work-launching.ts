import { expect, test } from 'vitest'
import { type Given, HELLO, next, PATIENT, said, type Twin } from './work-bench.ts'

/** How a program comes to life, speaks, and how it is known that it has ended. */
export function promisesOfLaunching(given: Given): void {
  test('an attempt that was not launched is known to nobody, and nothing is concluded from that', async () => {
    const order = await given.bench.order(HELLO, { mode: given.mode })
    expect(given.bench.work.evidence(order)).toEqual({
      isClaimed: false,
      openedAt: null,
      refusal: null,
      life: null,
      exit: null,
      process: 'unknown',
      shim: 'unknown',
      memory: null,
      isAlone: false,
    })
    expect(said(given.bench.work, order)).toBe('')
  })

  test('a program lives, speaks and ends, and all of it can be seen', async () => {
    const order = await given.running(PATIENT)
    const { life, ...alive } = given.bench.work.evidence(order)
    expect(alive).toEqual({
      isClaimed: true,
      openedAt: null,
      refusal: null,
      exit: null,
      process: 'alive',
      shim: 'alive',
      memory: null,
      isAlone: false,
    })
    expect(life !== null && given.bench.work.isAlive(life)).toBe(true)
    await given.bench.work.sweep(order, { force: true })
    expect(given.bench.work.evidence(order)).toMatchObject({
      life,
      process: 'dead',
      shim: 'dead',
      exit: { kind: 'signal', signal: 'SIGKILL' },
    })
    expect(life !== null && given.bench.work.isAlive(life)).toBe(false)
  })

  test.each<[string, Twin, object]>([
    ['an exit code', { sh: 'exit 7', deeds: [{ exit: 7 }] }, { kind: 'code', code: 7 }],
    ['no error', { sh: 'exit 0', deeds: [] }, { kind: 'code', code: 0 }],
    ['a signal', { sh: 'kill -KILL $$', deeds: [{ die: 'SIGKILL' }] }, { kind: 'signal', signal: 'SIGKILL' }],
    ['another', { sh: 'kill -SEGV $$', deeds: [{ die: 'SIGSEGV' }] }, { kind: 'signal', signal: 'SIGSEGV' }],
    ['a code that looks like a signal', { sh: 'exit 137', deeds: [{ exit: 137 }] }, { kind: 'code', code: 137 }],
  ])('it is written down that a program ended with %s', async (_, twin, exit) => {
    const order = await given.ended(twin)
    expect(given.bench.work.evidence(order).exit).toEqual(exit)
  })

  test('launched again at any time, it is still one process', async () => {
    const order = await given.bench.order(PATIENT, { mode: given.mode })
    await Promise.all([given.bench.work.launch(order), given.bench.work.launch(order)])
    await given.bench.work.launch(order)
    await given.bench.until('it has spoken', () => said(given.bench.work, order).includes('ready'))
    const { life } = given.bench.work.evidence(order)
    await given.bench.another().launch(order)
    await given.bench.work.sweep(order, { force: true })
    await given.bench.work.launch(order)
    expect(given.bench.work.evidence(order)).toMatchObject({ life, exit: { signal: 'SIGKILL' } })
    expect(said(given.bench.work, order)).toBe('ready\n')
  })

  test('launched again between its launch and its first breath, all it says is recorded', async () => {
    const order = await given.bench.order(HELLO, { mode: given.mode })
    const other = given.bench.another()
    for (let times = 0; times < 5; times++) await (times % 2 === 0 ? given.bench.work : other).launch(order)
    await given.bench.until('it has ended', () => given.bench.work.evidence(order).exit !== null)
    await given.bench.work.sweep(order, { force: false })
    expect(said(given.bench.work, order)).toBe('hello\n')
  })

  test('output is read from any place, as much as is asked for', async () => {
    const order = await given.ended({ sh: 'printf 0123456789', deeds: [{ say: '0123456789' }] })
    await given.bench.work.sweep(order, { force: false })
    const read = (offset: number, limit: number): string =>
      Buffer.from(given.bench.work.read(order, offset, limit)).toString()
    expect([read(0, 4), read(4, 100), read(10, 5), read(99, 5)]).toEqual(['0123', '456789', '', ''])
  })

  test('a prompt reaches the program on its stdin, byte for byte', async () => {
    const prompt = Buffer.from(`a 'b' "c" $(d) \`e\` \\f -g\n#{h} %H\n`)
    const cat: Twin = { sh: 'cat', deeds: ({ stdin }) => [{ say: stdin }] }
    const order = await given.ended(cat, { stdin: prompt })
    await given.bench.work.sweep(order, { force: false })
    expect(said(given.bench.work, order)).toBe(prompt.toString())
    expect(Buffer.from(given.bench.work.given(order) ?? []).equals(prompt)).toBe(true)
    expect(given.bench.work.given(next(order))).toBeNull()
  })

  test('messages are kept by their numbers, the prompt first, beside the environment', async () => {
    const { work } = given.bench
    const { sessionId } = await given.bench.order(HELLO, { mode: given.mode, prompt: Buffer.from('do it') })
    await work.keep(sessionId, 2, Buffer.from('and this\n'))
    await work.keep(sessionId, 3, Buffer.from([0, 255]))
    const texts = [1, 2, 3].map(number => [...work.message(sessionId, number)])
    expect(texts).toEqual([[...Buffer.from('do it')], [...Buffer.from('and this\n')], [0, 255]])
    const before = work.environment(sessionId)
    await work.changeEnvironment(sessionId, { KEY: 'a new one' })
    expect(work.environment(sessionId)).toEqual({ ...before, KEY: 'a new one' })
  })

  test('the end of the transcript can be had', async () => {
    const { work } = given.bench
    const { sessionId } = await given.bench.order(HELLO, { mode: given.mode })
    expect(work.lastWords(sessionId, 100)).toBe('')
    work.write(sessionId, 0, 'one\ntwo\n')
    expect([work.lastWords(sessionId, 4), work.lastWords(sessionId, 100)]).toEqual(['two\n', 'one\ntwo\n'])
  })

  test('the transcript is cut to what is known and goes on from there', async () => {
    const { sessionId } = await given.bench.order(HELLO, { mode: given.mode })
    const { work } = given.bench
    const one = work.write(sessionId, 0, 'one\n')
    expect(one).toBe(4)
    expect(work.write(sessionId, one, 'a tale that is forgotten\n')).toBe(29)
    expect(work.write(sessionId, one, 'zwölf\n')).toBe(11)
    expect(work.write(sessionId, 11, '')).toBe(11)
  })
}
