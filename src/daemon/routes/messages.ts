import { LOOP_KINDS } from '../../api/contract/agent-kinds.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { Session, Spec } from '../../core/session/session.ts'

/** Refuses messages to a loop: only its agents read messages. */
export function assertTakesMessages({ id, name, agent }: Spec, live: readonly Session[]): void {
  if (!LOOP_KINDS.includes(agent)) return
  const workers = live.filter(({ spec }) => spec.parent?.id === id)
  const hint =
    workers.length === 0
      ? 'no agent works for it now; add tasks to its list instead'
      : workers.map(({ spec }) => `oneshot send ${spec.name} "…"`).join(', or ')
  throw refusal('takes-no-messages', `${name} is a loop and reads no messages; its agents do`, hint)
}
