import { expect, test } from 'vitest'
import { type RuntimeTestContext, HELLO, PATIENT, outputOf } from './runtime-fixture.ts'

/** Tests the statistics of an attempt that writes nothing. */
export function testProcessStats(given: RuntimeTestContext): void {
  test('processStats reports the output size and the processes of a quiet program, and both stay the same', async () => {
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

  test('processStats reports CPU time and memory', async () => {
    const spec = await given.launched({
      sh: `echo ready; exec ${process.execPath} -e 'globalThis.held = Buffer.alloc(2e8, 1); for (;;);'`,
      steps: [{ say: 'ready\n' }, { hold: 2e8 }, { compute: 60_000 }],
    })
    const { work: runtime } = given.bench
    await given.bench.until('it holds what it allocated', async () => (await runtime.processStats(spec)).memory >= 2e8)
    const { cpu } = await runtime.processStats(spec)
    await given.bench.until('it has computed', async () => (await runtime.processStats(spec)).cpu > cpu)
  })

  test('processStats reports no processes after the end, and lastActiveAt a time after the start', async () => {
    const spec = await given.ended(HELLO)
    const { work: runtime } = given.bench
    await runtime.sweep(spec, { force: false })
    expect(await runtime.processStats(spec)).toMatchObject({ processes: [], cpu: 0 })
    expect(outputOf(runtime, spec)).toContain('hello')
    const { startedAt } = runtime.attemptState(spec).life ?? { startedAt: Infinity }
    expect(runtime.lastActiveAt(spec)).toBeGreaterThanOrEqual(startedAt)
  })

  test('lastActiveAt is null and the output empty for an attempt that never ran, and isDirectory finds a folder', async () => {
    const spec = await given.bench.order(HELLO, { mode: given.mode })
    expect(given.bench.work.lastActiveAt(spec)).toBeNull()
    expect(given.bench.work.outputSize(spec)).toBe(0)
    expect(given.bench.work.isDirectory('/')).toBe(true)
  })
}
