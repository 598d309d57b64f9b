import { setTimeout as pause } from 'node:timers/promises'
import { steadyNow } from '../agent/journal.ts'
import { between } from '../../../testkit/system/seeded-random.ts'
import type { Fault, FaultContext } from './fault.ts'

/** Fills the disk for a while. It counts as recovered when the supervisor accepts a request again. */
export const fillDisk: Fault = async (context, random) => {
  const { disk } = context.environment
  if (!disk.isSmall) return undefined
  const at = steadyNow()
  disk.fill()
  hurtRecorders(context)
  const freed = pause(between(random, 300, 2_000)).then(() => {
    hurtRecorders(context)
    disk.free()
  })
  const recovery = freed.then(() => context.moments.wait(['launched', 'accepted'], 60_000))
  return { at, kills: 0, recovery }
}

/** The recorder of a terminal dies on a full disk. */
function hurtRecorders({ fleet }: FaultContext): void {
  for (const session of fleet.live) if (session.plan.mode === 'tty') session.hurt.add('recorder')
}

const MINUTE = 60_000

/** Shifts the supervisors' wall clock by up to six hours, and mostly resets it a little later. */
export const jumpClock: Fault = async (context, random) => {
  const { clock } = context.environment
  if (clock.obstacle !== null) return undefined
  const at = steadyNow()
  const length = between(random, 1, 360) * MINUTE
  clock.shift(random() < 0.5 ? length : -length)
  const isSetRight = random() < 0.8
  const hold = between(random, 100, 3_000)
  if (isSetRight) void pause(hold).then(() => clock.shift(0))
  return { at, kills: 0 }
}
