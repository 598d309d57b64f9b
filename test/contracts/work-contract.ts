import { afterEach, beforeEach, describe } from 'vitest'
import type { Mode } from '../../src/core/session.ts'
import { type Given, said, type WorkBench } from './work-bench.ts'
import { promisesOfEnding } from './work-ending.ts'
import { promisesOfLaunching } from './work-launching.ts'
import { promisesOfVitals } from './work-vitals.ts'

/** What every work plane promises. */
export function promisesOfWork(world: string, mode: Mode, open: () => WorkBench): void {
  describe(`work on ${world}, ${mode}`, () => {
    let bench: WorkBench
    beforeEach(() => {
      bench = open()
    })
    afterEach(() => bench.close())
    const given: Given = {
      mode,
      get bench() {
        return bench
      },
      launched: async (twin, wishes = {}) => {
        const order = await bench.order(twin, { mode, ...wishes })
        await bench.work.launch(order)
        return order
      },
      running: async twin => {
        const order = await given.launched(twin)
        await bench.until('it has spoken', () => said(bench.work, order).includes('ready'))
        return order
      },
      ended: async (twin, wishes) => {
        const order = await given.launched(twin, wishes)
        await bench.until('it has ended', () => bench.work.evidence(order).exit !== null)
        return order
      },
    }
    promisesOfLaunching(given)
    promisesOfEnding(given)
    promisesOfVitals(given)
  })
}
