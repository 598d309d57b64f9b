import { setTimeout as pause } from 'node:timers/promises'
import { steadyNow } from '../agent/journal.ts'
import { between } from '../dice.ts'
import type { Fault, Scene } from './fault.ts'

/** No room for anything, for a while. It is as it should be when something is accepted again. */
export const fillDisk: Fault = async (scene, roll) => {
  const { disk } = scene.theatre
  if (!disk.isSmall) return undefined
  const at = steadyNow()
  disk.fill()
  hurtRecorders(scene)
  const freed = pause(between(roll, 300, 2_000)).then(() => {
    hurtRecorders(scene)
    disk.free()
  })
  const recovery = freed.then(() => scene.moments.wait(['launched', 'accepted'], 60_000))
  return { at, kills: 0, recovery }
}

/** A terminal's recorder dies of a full disk. */
function hurtRecorders({ fleet }: Scene): void {
  for (const story of fleet.live) if (story.plan.mode === 'tty') story.hurt.add('recorder')
}

const MINUTE = 60_000

/** The supervisors' wall clock is set forward or back by up to six hours, and mostly set right again a little later. */
export const jumpClock: Fault = async (scene, roll) => {
  const { clock } = scene.theatre
  if (clock.obstacle !== null) return undefined
  const at = steadyNow()
  const length = between(roll, 1, 360) * MINUTE
  clock.shift(roll() < 0.5 ? length : -length)
  const isSetRight = roll() < 0.8
  const hold = between(roll, 100, 3_000)
  if (isSetRight) void pause(hold).then(() => clock.shift(0))
  return { at, kills: 0 }
}
