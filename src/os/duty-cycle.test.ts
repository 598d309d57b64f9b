import { expect, test } from 'vitest'
import { DutyCycle } from './duty-cycle.ts'

/** Blocks the event loop for this many milliseconds. */
function work(duration: number): void {
  const end = performance.now() + duration
  while (performance.now() < end);
}

test('actions run one at a time, in order, with a rest after each, and a failed one does not stop the others', async () => {
  const cycle = new DutyCycle(3)
  const begun: number[] = []
  const action = (): void => {
    begun.push(performance.now())
    work(10)
  }
  const failed = cycle.run(() => {
    action()
    throw new Error('no')
  })
  await Promise.all([expect(failed).rejects.toThrow('no'), cycle.run(action), cycle.run(action)])
  const pauses = begun.slice(1).map((at, i) => at - (begun[i] as number))
  for (const pause of pauses) expect(pause).toBeGreaterThanOrEqual(39)
})

test('no action rests after stopResting', async () => {
  const cycle = new DutyCycle(1_000)
  cycle.stopResting()
  const begun = performance.now()
  for (let turn = 0; turn < 3; turn++) await cycle.run(() => work(10))
  expect(performance.now() - begun).toBeLessThan(5_000)
})
