import { expect, test } from 'vitest'
import { type RuntimeTestContext, HELLO, nextAttempt, PATIENT, outputOf, type DualProgram } from './runtime-fixture.ts'

/** Tests how a program starts and writes, and how the runtime detects its end. */
export function testLaunching(given: RuntimeTestContext): void {
  test('attemptState reports unknown for an attempt that was not launched', async () => {
    const spec = await given.bench.order(HELLO, { mode: given.mode })
    expect(given.bench.work.attemptState(spec)).toEqual({
      isClaimed: false,
      openedAt: null,
      refusal: null,
      life: null,
      exit: null,
      process: 'unknown',
      shim: 'unknown',
      memory: null,
      isTreeEmpty: false,
    })
    expect(outputOf(given.bench.work, spec)).toBe('')
  })

  test('attemptState reports a program as alive, and after its end as dead with its signal', async () => {
    const spec = await given.running(PATIENT)
    const { life, ...alive } = given.bench.work.attemptState(spec)
    expect(alive).toEqual({
      isClaimed: true,
      openedAt: null,
      refusal: null,
      exit: null,
      process: 'alive',
      shim: 'alive',
      memory: null,
      isTreeEmpty: false,
    })
    expect(life !== null && given.bench.work.isProcessAlive(life)).toBe(true)
    await given.bench.work.sweep(spec, { force: true })
    expect(given.bench.work.attemptState(spec)).toMatchObject({
      life,
      process: 'dead',
      shim: 'dead',
      exit: { kind: 'signal', signal: 'SIGKILL' },
    })
    expect(life !== null && given.bench.work.isProcessAlive(life)).toBe(false)
  })

  test.each<[string, DualProgram, object]>([
    ['an exit code', { sh: 'exit 7', steps: [{ exit: 7 }] }, { kind: 'code', code: 7 }],
    ['no error', { sh: 'exit 0', steps: [] }, { kind: 'code', code: 0 }],
    ['a signal', { sh: 'kill -KILL $$', steps: [{ die: 'SIGKILL' }] }, { kind: 'signal', signal: 'SIGKILL' }],
    ['another signal', { sh: 'kill -SEGV $$', steps: [{ die: 'SIGSEGV' }] }, { kind: 'signal', signal: 'SIGSEGV' }],
    ['a code that looks like a signal', { sh: 'exit 137', steps: [{ exit: 137 }] }, { kind: 'code', code: 137 }],
  ])('the shim records that a program ended with %s', async (_, program, exit) => {
    const spec = await given.ended(program)
    expect(given.bench.work.attemptState(spec).exit).toEqual(exit)
  })

  test('repeated launches of an attempt start one process', async () => {
    const spec = await given.bench.order(PATIENT, { mode: given.mode })
    await Promise.all([given.bench.work.launch(spec), given.bench.work.launch(spec)])
    await given.bench.work.launch(spec)
    await given.bench.until('it has spoken', () => outputOf(given.bench.work, spec).includes('ready'))
    const { life } = given.bench.work.attemptState(spec)
    await given.bench.another().launch(spec)
    await given.bench.work.sweep(spec, { force: true })
    await given.bench.work.launch(spec)
    expect(given.bench.work.attemptState(spec)).toMatchObject({ life, exit: { signal: 'SIGKILL' } })
    expect(outputOf(given.bench.work, spec)).toBe('ready\n')
  })

  test('repeated launches before the start of the program lose none of its output', async () => {
    const spec = await given.bench.order(HELLO, { mode: given.mode })
    const other = given.bench.another()
    for (let times = 0; times < 5; times++) await (times % 2 === 0 ? given.bench.work : other).launch(spec)
    await given.bench.until('it has ended', () => given.bench.work.attemptState(spec).exit !== null)
    await given.bench.work.sweep(spec, { force: false })
    expect(outputOf(given.bench.work, spec)).toBe('hello\n')
  })

  test('readOutput reads from any offset, up to the given limit', async () => {
    const spec = await given.ended({ sh: 'printf 0123456789', steps: [{ say: '0123456789' }] })
    await given.bench.work.sweep(spec, { force: false })
    const read = (offset: number, limit: number): string =>
      Buffer.from(given.bench.work.readOutput(spec, offset, limit)).toString()
    expect([read(0, 4), read(4, 100), read(10, 5), read(99, 5)]).toEqual(['0123', '456789', '', ''])
  })

  test('the program gets its prompt on stdin byte for byte', async () => {
    const prompt = Buffer.from(`a 'b' "c" $(d) \`e\` \\f -g\n#{h} %H\n`)
    const cat: DualProgram = { sh: 'cat', steps: ({ stdin }) => [{ say: stdin }] }
    const spec = await given.ended(cat, { stdin: prompt })
    await given.bench.work.sweep(spec, { force: false })
    expect(outputOf(given.bench.work, spec)).toBe(prompt.toString())
    expect(Buffer.from(given.bench.work.readStdin(spec) ?? []).equals(prompt)).toBe(true)
    expect(given.bench.work.readStdin(nextAttempt(spec))).toBeNull()
  })

  test('the runtime stores messages by their numbers, the prompt first, and the environment', async () => {
    const { work: runtime } = given.bench
    const { sessionId } = await given.bench.order(HELLO, { mode: given.mode, prompt: Buffer.from('do it') })
    await runtime.storeMessage(sessionId, 2, Buffer.from('and this\n'))
    await runtime.storeMessage(sessionId, 3, Buffer.from([0, 255]))
    const texts = [1, 2, 3].map(number => [...runtime.readMessage(sessionId, number)])
    expect(texts).toEqual([[...Buffer.from('do it')], [...Buffer.from('and this\n')], [0, 255]])
    const before = runtime.readEnvironment(sessionId)
    await runtime.changeEnvironment(sessionId, { KEY: 'a new one' })
    expect(runtime.readEnvironment(sessionId)).toEqual({ ...before, KEY: 'a new one' })
  })

  test('transcriptTail returns the end of the transcript', async () => {
    const { work: runtime } = given.bench
    const { sessionId } = await given.bench.order(HELLO, { mode: given.mode })
    expect(runtime.transcriptTail(sessionId, 100)).toBe('')
    runtime.writeTranscript(sessionId, 0, 'one\ntwo\n')
    expect([runtime.transcriptTail(sessionId, 4), runtime.transcriptTail(sessionId, 100)]).toEqual([
      'two\n',
      'one\ntwo\n',
    ])
  })

  test('writeTranscript cuts the transcript to the given length and continues there', async () => {
    const { sessionId } = await given.bench.order(HELLO, { mode: given.mode })
    const { work: runtime } = given.bench
    const one = runtime.writeTranscript(sessionId, 0, 'one\n')
    expect(one).toBe(4)
    expect(runtime.writeTranscript(sessionId, one, 'a tale that is forgotten\n')).toBe(29)
    expect(runtime.writeTranscript(sessionId, one, 'zwölf\n')).toBe(11)
    expect(runtime.writeTranscript(sessionId, 11, '')).toBe(11)
  })
}
