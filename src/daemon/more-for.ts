import { LOOP_KINDS } from '../api/contract/agent-kinds.ts'
import type { Spec } from '../core/session.ts'
import { listOf } from './list-of.ts'

/** How a session that is done gets more to do. Messages are read by those who work for a loop, not by itself. */
export function moreFor({ name, agent, argv }: Spec): string {
  if (!LOOP_KINDS.includes(agent)) return `give it more to do: oneshot send ${name} "…"`
  const list = listOf({ argv })
  return `${list === null ? 'open another issue' : `add a box to ${list}`}, then: oneshot ralph`
}
