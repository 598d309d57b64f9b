import { TELLING, TRIGGERS, type Trigger } from '../core/checkpoint.ts'
import type { Session } from '../core/session.ts'
import type { Occasion } from '../ports/checkpoints.ts'
import type { World } from './world.ts'
import { recordAndGoal } from './checkpoint-record.ts'

/** What is written down with a checkpoint of a session. Whatever is wanted of one at the same time is met by it as well. */
export function occasionOf(
  session: Session,
  trigger: Trigger,
  { agents, clock, work }: Pick<World, 'agents' | 'clock' | 'work'>,
): Occasion {
  const { spec, attempt, saved } = session
  const moments = saved.wanted === null ? [trigger] : [trigger, saved.wanted.trigger]
  const weight = (moment: Trigger): number => TRIGGERS.indexOf(moment)
  return {
    trigger: moments.reduce((one, other) => (weight(other) > weight(one) ? other : one)),
    attempt,
    at: clock.now(),
    ...recordAndGoal(session, work, agents(spec.agent).program),
    isRecordNews: moments.some(moment => TELLING.includes(moment)),
    isVisible: spec.saving.mode === 'branch' && moments.some(moment => isShown(moment, session)),
  }
}

/** Only what an agent does is committed visibly: what people do before, after and beside it is theirs. */
function isShown(trigger: Trigger, { phase }: Session): boolean {
  if (trigger === 'stop' || trigger === 'end' || trigger === 'error') return true
  return phase.name !== 'ended' && (trigger === 'edit' || trigger === 'interval' || trigger === 'restart')
}
