import { expect, test } from 'vitest'
import { type Given, HELLO, PATIENT, said } from './work-bench.ts'

/** What can be seen of an attempt that tells nothing. */
export function promisesOfVitals(given: Given): void {
  test('what a quiet program has written and which processes it has is seen, and does not change', async () => {
    const order = await given.running(PATIENT)
    const { work } = given.bench
    const before = await work.vitals(order)
    expect(before.written).toBe(work.written(order))
    expect(before.written).toBeGreaterThanOrEqual('ready\n'.length)
    expect(before.processes.length).toBeGreaterThanOrEqual(1)
    expect(before.processes).toContain(work.evidence(order).life?.pid)
    const after = await work.vitals(order)
    expect({ ...after, memory: 0, cpu: 0 }).toEqual({ ...before, memory: 0, cpu: 0 })
  })

  test('computing is seen, and memory', async () => {
    const order = await given.launched({
      sh: `echo ready; exec ${process.execPath} -e 'globalThis.held = Buffer.alloc(2e8, 1); for (;;);'`,
      deeds: [{ say: 'ready\n' }, { hold: 2e8 }, { compute: 60_000 }],
    })
    const { work } = given.bench
    await given.bench.until('it holds what it allocated', async () => (await work.vitals(order)).memory >= 2e8)
    const { cpu } = await work.vitals(order)
    await given.bench.until('it has computed', async () => (await work.vitals(order)).cpu > cpu)
  })

  test('what has ended uses nothing, and was last seen when it wrote', async () => {
    const order = await given.ended(HELLO)
    const { work } = given.bench
    await work.sweep(order, { force: false })
    expect(await work.vitals(order)).toMatchObject({ processes: [], cpu: 0 })
    expect(said(work, order)).toContain('hello')
    const { startedAt } = work.evidence(order).life ?? { startedAt: Infinity }
    expect(work.seenAt(order)).toBeGreaterThanOrEqual(startedAt)
  })

  test('an attempt that never lived was never seen; a folder is there or not', async () => {
    const order = await given.bench.order(HELLO, { mode: given.mode })
    expect(given.bench.work.seenAt(order)).toBeNull()
    expect(given.bench.work.written(order)).toBe(0)
    expect(given.bench.work.isFolder('/')).toBe(true)
  })
}
