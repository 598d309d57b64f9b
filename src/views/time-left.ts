import { wantedOf } from '../core/loop/choose.ts'
import { isAtWork, isSettled, type Loop, type LoopTask, type Try } from '../core/loop/loop.ts'
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

/**
 * From each start to its end, and to the end of what followed it, without the time in which the loop was stopped. `now`: for a task that an agent
 * works on; when the loop has stopped, the instant at which it did, or null where nobody knows that.
 */
export function workedOn(task: LoopTask, now: Instant | null): Duration {
  const { tries, stand } = task
  const last = tries.at(-1)
  if (last === undefined) return 0
  const earlier = tries.slice(0, -1).reduce((sum, one) => sum + lengthOf(one, one.until), 0)
  const end = stand.name === 'done' ? stand.at : isAtWork(task) ? now : null
  return earlier + lengthOf(last, end ?? last.until)
}

function lengthOf({ since, stops = [] }: Try, end: Instant | null): Duration {
  const until = end ?? since
  const stopped = stops.map(({ from, to }) => Math.max(0, Math.min(to, until) - Math.max(from, since)))
  return Math.max(0, until - since - stopped.reduce((sum, one) => sum + one, 0))
}

function isStuck(left: readonly LoopTask[]): boolean {
  const atWork = left.filter(isAtWork)
  return atWork.length > 0 && atWork.every(({ stand }) => stand.name === 'working' && stand.rest !== null)
}
