import { wantedOf } from '../core/loop/choose.ts'
import { isAtWork, isSettled, type Loop, type LoopTask } from '../core/loop/loop.ts'
import type { Duration, Instant } from '../lib/time.ts'

/**
 * How long a loop will still take, if what is left is like what was done: null before the first task is done, and while all who work rest, because
 * then it would be a guess.
 */
export function timeLeft(loop: Loop, now: Instant): Duration | null {
  const wanted = wantedOf(loop)
  const done = wanted.filter(({ stand, tries }) => stand.name === 'done' && tries.length > 0)
  const left = wanted.filter(task => !isSettled(task))
  if (loop.stage.name !== 'working' || done.length === 0 || left.length === 0 || isStuck(left)) return null
  const usual = done.map(task => workedOn(task, now)).reduce((sum, one) => sum + one, 0) / done.length
  const each = left.map(task => Math.max(usual - workedOn(task, now), isAtWork(task) ? 0 : usual))
  const together = each.reduce((sum, one) => sum + one, 0) / Math.min(loop.width, left.length)
  return Math.max(together, ...each)
}

/** From each start to its end, and to the end of what followed it. `now`: for what is going on; null when nothing is. */
export function workedOn({ tries, stand }: LoopTask, now: Instant | null): Duration {
  const last = tries.at(-1)
  const earlier = tries.slice(0, -1).reduce((sum, { since, until }) => sum + ((until ?? since) - since), 0)
  if (last === undefined) return 0
  const isGoing = ['opening', 'working', 'judging', 'merging'].includes(stand.name)
  const end = stand.name === 'done' ? stand.at : isGoing ? now : null
  return earlier + Math.max(0, (end ?? last.until ?? last.since) - last.since)
}

function isStuck(left: readonly LoopTask[]): boolean {
  const atWork = left.filter(isAtWork)
  return atWork.length > 0 && atWork.every(({ stand }) => stand.name === 'working' && stand.rest !== null)
}
