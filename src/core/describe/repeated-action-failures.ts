import type { Instant } from '../../lib/time.ts'
import type { Effect } from '../session/decision.ts'

/** An action on a session that has failed several times in a row. */
export interface RepeatedTrouble {
  /** Names the action: `ending the processes of attempt 3`. */
  readonly doing: string
  readonly count: number
  /** The time of the first failure. */
  readonly since: Instant
  /** The reason of the last failure. */
  readonly reason: string
}

/** Names an effect as the action that failed. */
export function describeEffect(effect: Effect): string {
  switch (effect.type) {
    case 'launch':
      return `starting attempt ${effect.attempt}`
    case 'interrupt':
      return `interrupting attempt ${effect.attempt}`
    case 'terminate':
      return `terminating attempt ${effect.attempt}`
    case 'sweep':
    case 'kill':
      return `ending the processes of attempt ${effect.attempt}`
    case 'close':
      return 'closing the panes'
  }
}

/** Counts one more failure. Another action starts a new count. */
export function countTrouble(
  known: RepeatedTrouble | undefined,
  { doing, reason, at }: { readonly doing: string; readonly reason: string; readonly at: Instant },
): RepeatedTrouble {
  return known?.doing === doing ? { ...known, count: known.count + 1, reason } : { doing, count: 1, since: at, reason }
}
