import { expect, test } from 'vitest'
import { type RuntimeTestContext, HELLO, PATIENT, outputOf } from './runtime-fixture.ts'

/** Tests the statistics of an attempt that writes nothing. */
export function testProcessStats(given: RuntimeTestContext): void {
  test('what a quiet program has written and which processes it has is seen, and does not change', async () => {
    const spec = await given.running(PATIENT)
    const { work: runtime } = given.bench
    const before = await runtime.processStats(spec)
    expect(before.written).toBe(runtime.outputSize(spec))
    expect(before.written).toBeGreaterThanOrEqual('ready\n'.length)
    expect(before.processes.length).toBeGreaterThanOrEqual(1)
    expect(before.processes).toContain(runtime.attemptState(spec).life?.pid)
    const after = await runtime.processStats(spec)
    expect({ ...after, memory: 0, cpu: 0 }).toEqual({ ...before, memory: 0, cpu: 0 })
  })

  test('computing is seen, and memory', async () => {
    const spec = await given.launched({
      sh: `echo ready; exec ${process.execPath} -e 'globalThis.held = Buffer.alloc(2e8, 1); for (;;);'`,
      steps: [{ say: 'ready\n' }, { hold: 2e8 }, { compute: 60_000 }],
    })
    const { work: runtime } = given.bench
    await given.bench.until('it holds what it allocated', async () => (await runtime.processStats(spec)).memory >= 2e8)
    const { cpu } = await runtime.processStats(spec)
    await given.bench.until('it has computed', async () => (await runtime.processStats(spec)).cpu > cpu)
  })

  test('what has ended uses nothing, and was last seen when it wrote', async () => {
    const spec = await given.ended(HELLO)
    const { work: runtime } = given.bench
    await runtime.sweep(spec, { force: false })
    expect(await runtime.processStats(spec)).toMatchObject({ processes: [], cpu: 0 })
    expect(outputOf(runtime, spec)).toContain('hello')
    const { startedAt } = runtime.attemptState(spec).life ?? { startedAt: Infinity }
    expect(runtime.lastActiveAt(spec)).toBeGreaterThanOrEqual(startedAt)
  })

  test('an attempt that never lived was never seen; a folder is there or not', async () => {
    const spec = await given.bench.order(HELLO, { mode: given.mode })
    expect(given.bench.work.lastActiveAt(spec)).toBeNull()
    expect(given.bench.work.outputSize(spec)).toBe(0)
    expect(given.bench.work.isDirectory('/')).toBe(true)
  })
}
