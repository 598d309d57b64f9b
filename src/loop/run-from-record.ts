import { createLoop, type Loop } from '../core/loop/loop-state.ts'
import type { LoopSignal } from '../core/loop/signals.ts'
import type { Instant } from '../lib/time.ts'
import type { LoopContext } from './context.ts'
import { relocateLoop } from './relocate.ts'
import { startLoop } from './effects/load-list-and-checkout.ts'
import { LoopRunner, type RunnerHooks } from './runner.ts'

/** The recorded state from which a program of the loop continues. */
export interface LoopRecord {
  /** Undefined if the loop has not decided anything yet. */
  readonly loop: Loop | undefined
  /** The last time that a person started or resumed the loop's session. */
  readonly resumedAt: Instant
  /** Returns the time of the last stop; undefined if the session was never stopped. */
  readonly readLastStop: () => Instant | undefined
}

/** Runs a loop from its record until its end, or until `ending` aborts. Each start and each restart calls it. */
export async function runFromRecord(
  context: LoopContext,
  record: LoopRecord,
  hooks: RunnerHooks,
  ending: AbortSignal,
): Promise<Loop> {
  const loop =
    record.loop === undefined
      ? createLoop(context.spec, context.clock.now(), record.resumedAt)
      : await relocateLoop(context, record.loop)
  const seen = await initialSignals(context, loop, record, ending)
  return new LoopRunner(context, loop, hooks).run(seen, ending)
}

/**
 * Inspects the repository at each start, because the user may have changed it. If the session was woken since the last
 * run, the user has resumed it; otherwise the supervisor has restarted the program after a crash.
 */
async function initialSignals(
  context: LoopContext,
  loop: Loop,
  { resumedAt, readLastStop }: LoopRecord,
  ending: AbortSignal,
): Promise<LoopSignal[]> {
  const at = context.clock.now()
  const isResumed = loop.resumedAt !== resumedAt
  const stoppedAt = isResumed ? (readLastStop() ?? resumedAt) : resumedAt
  const resumed: LoopSignal[] = isResumed ? [{ type: 'user.resume', at, resumedAt, stoppedAt }] : []
  const isToLook = loop.tasks.length > 0 && (isResumed || loop.stage.name !== 'ended')
  const seen: LoopSignal[] = []
  const report = (signal: object): void => void seen.push({ ...signal, at } as LoopSignal)
  if (isToLook) await startLoop({ context, loop: () => loop, report, ending }, isResumed)
  const isImpossible = seen.some(({ type }) => type === 'loop.impossible')
  return isImpossible ? seen : [...seen, ...resumed]
}
