import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Mode } from '../../src/core/session.ts'
import { next, said, type Twin, type WorkBench } from './work-bench.ts'

const HELLO: Twin = { sh: 'echo hello', deeds: [{ say: 'hello\n' }] }
const PATIENT: Twin = { sh: 'echo ready; exec sleep 1000', deeds: [{ say: 'ready\n' }, { wait: Infinity }] }

/** What every work plane promises. */
export function promisesOfWork(world: string, mode: Mode, open: () => WorkBench): void {
  describe(`work on ${world}, ${mode}`, () => {
    let bench: WorkBench
    beforeEach(() => {
      bench = open()
    })
    afterEach(() => bench.close())

    const launched = async (twin: Twin, wishes = {}) => {
      const order = await bench.order(twin, { mode, ...wishes })
      await bench.work.launch(order)
      return order
    }
    const ended = async (twin: Twin, wishes = {}) => {
      const order = await launched(twin, wishes)
      await bench.until('it has ended', () => bench.work.evidence(order).exit !== null)
      return order
    }
    const running = async (twin: Twin) => {
      const order = await launched(twin)
      await bench.until('it has spoken', () => said(bench.work, order).includes('ready'))
      return order
    }

    test('an attempt that was not launched is known to nobody, and nothing is concluded from that', async () => {
      const order = await bench.order(HELLO, { mode })
      expect(bench.work.evidence(order)).toEqual({
        isClaimed: false,
        openedAt: null,
        isRefused: false,
        life: null,
        exit: null,
        process: 'unknown',
        shim: 'unknown',
      })
      expect(said(bench.work, order)).toBe('')
    })

    test('a program lives, speaks and ends, and all of it can be seen', async () => {
      const order = await running(PATIENT)
      const { life, ...alive } = bench.work.evidence(order)
      expect(alive).toEqual({
        isClaimed: true,
        openedAt: null,
        isRefused: false,
        exit: null,
        process: 'alive',
        shim: 'alive',
      })
      expect(life !== null && bench.work.isAlive(life)).toBe(true)
      await bench.work.sweep(order, { force: true })
      expect(bench.work.evidence(order)).toMatchObject({
        life,
        process: 'dead',
        shim: 'dead',
        exit: { kind: 'signal', signal: 'SIGKILL' },
      })
      expect(life !== null && bench.work.isAlive(life)).toBe(false)
    })

    test.each<[string, Twin, object]>([
      ['an exit code', { sh: 'exit 7', deeds: [{ exit: 7 }] }, { kind: 'code', code: 7 }],
      ['no error', { sh: 'exit 0', deeds: [] }, { kind: 'code', code: 0 }],
      ['a signal', { sh: 'kill -KILL $$', deeds: [{ die: 'SIGKILL' }] }, { kind: 'signal', signal: 'SIGKILL' }],
      ['another', { sh: 'kill -SEGV $$', deeds: [{ die: 'SIGSEGV' }] }, { kind: 'signal', signal: 'SIGSEGV' }],
      ['a code that looks like a signal', { sh: 'exit 137', deeds: [{ exit: 137 }] }, { kind: 'code', code: 137 }],
    ])('it is written down that a program ended with %s', async (_, twin, exit) => {
      const order = await ended(twin)
      expect(bench.work.evidence(order).exit).toEqual(exit)
    })

    test('launched again at any time, it is still one process', async () => {
      const order = await bench.order(PATIENT, { mode })
      await Promise.all([bench.work.launch(order), bench.work.launch(order)])
      await bench.work.launch(order)
      await bench.until('it has spoken', () => said(bench.work, order).includes('ready'))
      const { life } = bench.work.evidence(order)
      await bench.another().launch(order)
      await bench.work.sweep(order, { force: true })
      await bench.work.launch(order)
      expect(bench.work.evidence(order)).toMatchObject({ life, exit: { signal: 'SIGKILL' } })
      expect(said(bench.work, order)).toBe('ready\n')
    })

    test('launched again between its launch and its first breath, all it says is recorded', async () => {
      const order = await bench.order(HELLO, { mode })
      const other = bench.another()
      for (let times = 0; times < 5; times++) await (times % 2 === 0 ? bench.work : other).launch(order)
      await bench.until('it has ended', () => bench.work.evidence(order).exit !== null)
      await bench.work.sweep(order, { force: false })
      expect(said(bench.work, order)).toBe('hello\n')
    })

    test('output is read from any place, as much as is asked for', async () => {
      const order = await ended({ sh: 'printf 0123456789', deeds: [{ say: '0123456789' }] })
      await bench.work.sweep(order, { force: false })
      const read = (offset: number, limit: number): string =>
        Buffer.from(bench.work.read(order, offset, limit)).toString()
      expect([read(0, 4), read(4, 100), read(10, 5), read(99, 5)]).toEqual(['0123', '456789', '', ''])
    })

    test('a prompt reaches the program on its stdin, byte for byte', async () => {
      const prompt = Buffer.from(`a 'b' "c" $(d) \`e\` \\f -g\n#{h} %H\n`)
      const cat: Twin = { sh: 'cat', deeds: ({ stdin }) => [{ say: stdin }] }
      const order = await ended(cat, { stdin: 'prompt', prompt })
      const text = await ended(cat, { stdin: Buffer.from('go on\n') })
      for (const each of [order, text]) await bench.work.sweep(each, { force: false })
      expect([said(bench.work, order), said(bench.work, text)]).toEqual([prompt.toString(), 'go on\n'])
    })

    test('the transcript is cut to what is known and goes on from there', async () => {
      const { sessionId } = await bench.order(HELLO, { mode })
      const { work } = bench
      const one = work.write(sessionId, 0, 'one\n')
      expect(one).toBe(4)
      expect(work.write(sessionId, one, 'a tale that is forgotten\n')).toBe(29)
      expect(work.write(sessionId, one, 'zwölf\n')).toBe(11)
      expect(work.write(sessionId, 11, '')).toBe(11)
    })

    test('an interrupt reaches the program, and only once', async () => {
      const order = await running({
        sh: `trap 'echo caught; n=$((n + 1)); [ $n -ge 2 ] && exit 2' INT; echo ready; n=0; while [ ! -e stop ]; do sleep 0.05; done`,
        deeds: [{ say: 'ready\n' }, { wait: Infinity }],
        onInterrupt: [{ say: 'caught\n' }, { wait: Infinity }],
      })
      await bench.work.interrupt(order)
      await bench.until('it was caught', () => said(bench.work, order).includes('caught'))
      await bench.work.interrupt(order)
      await bench.another().interrupt(order)
      await bench.work.sweep(order, { force: true })
      expect(said(bench.work, order).match(/caught/g)).toHaveLength(1)
    })

    test('a program can be asked to end by itself', async () => {
      const order = await running({
        sh: `trap 'echo bye; exit 9' TERM; echo ready; while :; do sleep 0.05; done`,
        deeds: [{ say: 'ready\n' }, { wait: Infinity }],
        deafTo: [],
      })
      await bench.work.terminate(order)
      await bench.until('it has ended', () => bench.work.evidence(order).exit !== null)
    })

    test('asking what is not there changes nothing', async () => {
      const order = await bench.order(HELLO, { mode })
      await bench.work.interrupt(order)
      await bench.work.terminate(order)
      await bench.work.close(order)
      expect(bench.work.evidence(order).isClaimed).toBe(false)
    })

    test('a sweep ends what a program left behind, and returns when it is gone', async () => {
      const order = await ended({
        sh: 'sleep 1000 & (exec sleep 1001) & echo ready',
        deeds: [{ litter: 'a tool' }, { say: 'ready\n' }],
      })
      await bench.work.sweep(order, { force: false })
      expect(bench.alive(order)).toBe(0)
      await bench.work.sweep(order, { force: false })
      expect(bench.work.evidence(order).exit).toEqual({ kind: 'code', code: 0 })
    })

    test('a sweep ends a program that will not listen', async () => {
      const order = await running({
        sh: `trap '' INT TERM HUP; echo ready; while :; do sleep 0.1; done`,
        deeds: [{ say: 'ready\n' }, { wait: Infinity }],
        deafTo: ['SIGINT', 'SIGTERM'],
      })
      await bench.work.sweep(order, { force: true })
      expect(bench.alive(order)).toBe(0)
      expect(bench.work.evidence(order).process).toBe('dead')
    })

    test('an attempt that was swept before it lived never comes to life', async () => {
      const order = await bench.order(PATIENT, { mode })
      await bench.work.sweep(order, { force: true })
      await bench.work.launch(order)
      expect(bench.work.evidence(order)).toMatchObject({ isClaimed: true, life: null, shim: 'dead' })
      const second = next(order)
      await bench.work.launch(second)
      await bench.until('its successor lives', () => bench.work.evidence(second).life !== null)
      await bench.work.sweep(second, { force: true })
      expect(bench.work.evidence(order).life).toBeNull()
    })

    test('an attempt swept in the middle of its launch leaves nothing alive, however far it had come', async () => {
      for (let round = 0; round < 4; round++) {
        const order = await bench.order(PATIENT, { mode })
        await bench.work.launch(order)
        await bench.work.sweep(order, { force: true })
        const { process } = bench.work.evidence(order)
        expect(process).not.toBe('alive')
        expect(bench.alive(order)).toBe(0)
        const second = next(order)
        await bench.work.launch(second)
        await bench.until('its successor lives', () => bench.work.evidence(second).life !== null)
        expect(bench.alive(order), 'nothing of the first came to life since').toBe(0)
        await bench.work.sweep(second, { force: true })
        await bench.work.close(second)
      }
    })

    test('a second attempt is refused while the first one lives', async () => {
      const order = await running(PATIENT)
      const second = next(order)
      await bench.work.launch(second)
      await bench.until('it is refused', () => bench.work.evidence(second).isRefused)
      expect(bench.work.evidence(second)).toMatchObject({ life: null, exit: null })
      expect(bench.work.evidence(order).process).toBe('alive')
      await bench.work.sweep(second, { force: true })
      await bench.work.sweep(order, { force: true })
    })

    test('an attempt follows when nothing is left of the one before', async () => {
      const order = await ended(HELLO)
      await bench.work.sweep(order, { force: false })
      const second = next(order)
      await bench.work.launch(second)
      await bench.until('it has ended', () => bench.work.evidence(second).exit !== null)
      await bench.work.sweep(second, { force: false })
      expect([said(bench.work, order), said(bench.work, second)]).toEqual(['hello\n', 'hello\n'])
    })

    test('who listens hears of a start and of an end, and who comes later hears what nobody has heard', async () => {
      const order = await bench.order(
        { sh: 'while [ ! -e go ]; do sleep 0.02; done', deeds: [{ wait: 500 }] },
        { mode },
      )
      const heard: string[] = []
      bench.work.onNews(id => heard.push(id))
      await bench.work.launch(order)
      await bench.until('its start is heard', () => heard.length > 0 && bench.work.evidence(order).life !== null)
      bench.work.heard(order)
      bench.work.shutDown()
      if (bench.work.evidence(order).exit === null) await bench.work.sweep(order, { force: true })
      await bench.until('it has ended', () => bench.work.evidence(order).exit !== null)
      const late: string[] = []
      const other = bench.another()
      other.onNews(id => late.push(id))
      await bench.until('its end is heard', () => late.length > 0)
      other.heard(order)
      other.shutDown()
      expect([...new Set([...heard, ...late])]).toEqual([order.sessionId])
    })

    test('new output is news while it is watched', async () => {
      const order = await running({
        sh: `trap 'echo more' INT; echo ready; while :; do sleep 0.05; done`,
        deeds: [{ say: 'ready\n' }, { wait: Infinity }],
        onInterrupt: [{ say: 'more\n' }, { wait: Infinity }],
      })
      let news = 0
      bench.work.onNews(() => news++)
      await bench.until('what lay there is told', () => news > 0)
      bench.work.heard(order)
      bench.work.watch(order, true)
      const before = news
      await bench.work.interrupt(order)
      await bench.until('it is told of the output', () => news > before && said(bench.work, order).includes('more'))
      bench.work.watch(order, false)
      bench.work.shutDown()
    })

    test('what was launched goes on when its supervisor is gone, and another one sees it', async () => {
      const order = await running(PATIENT)
      const { life } = bench.work.evidence(order)
      bench.work.shutDown()
      const other = bench.another()
      expect(other.evidence(order)).toMatchObject({ life, process: 'alive' })
      await other.sweep(order, { force: true })
      expect(other.evidence(order).process).toBe('dead')
    })

    test('closed and removed, twice, nothing is left and nothing fails', async () => {
      const order = await ended(HELLO)
      await bench.work.sweep(order, { force: false })
      for (let times = 0; times < 2; times++) {
        await bench.work.close(order)
        await bench.work.remove(order.sessionId)
      }
      expect(said(bench.work, order)).toBe('')
    })

    test('measuring a log that is not there, or twice, is fine', async () => {
      const order = await bench.order(HELLO, { mode })
      bench.work.measure(order, 'transcript')
      await bench.work.launch(order)
      await bench.until('it has ended', () => bench.work.evidence(order).exit !== null)
      for (let times = 0; times < 2; times++) bench.work.measure(order, 'output')
    })
  })
}
