import type { SessionView } from '../api/contract/session-view.ts'
import type { Loop } from '../core/loop/loop.ts'
import { add, describeSpending, NOTHING_SPENT } from '../core/spending.ts'

/** What a session has used up, as a sentence; null while it has used nothing. */
export function describeSpent({ spent }: SessionView): string | null {
  const { turns, inputTokens: input, cachedTokens: cached, outputTokens: output, costUsd: usd } = spent
  const isNothing = turns === 0 && input === 0 && output === 0 && (usd ?? 0) === 0
  return isNothing ? null : describeSpending({ turns, input, cached, output, usd })
}

/** `$0.42`; a dash where the agent's program tells no cost. */
export function describeCost({ spent: { costUsd } }: SessionView): string {
  return costUsd === null ? '-' : `$${costUsd.toFixed(2)}`
}

/** The sum of all iterations of a loop. */
export function spentOn({ tasks, plan }: Loop): SessionView['spent'] {
  const all = [...plan, ...tasks.flatMap(({ tries }) => tries)].map(({ spent }) => spent).reduce(add, NOTHING_SPENT)
  const { turns, input, cached, output, usd } = all
  return { turns, inputTokens: input, cachedTokens: cached, outputTokens: output, costUsd: usd }
}
