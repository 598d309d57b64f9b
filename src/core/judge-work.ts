import { end, follow } from './concluding.ts'
import { prove } from './prove.ts'
import type { Rules } from './rules.ts'
import type { In, Session } from './session.ts'
import type { SignalOf } from './signals.ts'
import { nothing, type Step } from './step.ts'

/** Its work was looked at: a good end is one only if what was to be shown is there. */
export function judgeWork(session: In<'stopping'>, { at, shown }: SignalOf<'work.shown'>, rules: Rules): Step {
  const { step, next } = session.phase
  if (step !== 'prove') return nothing(session)
  // What came in meanwhile may have decided otherwise.
  if (next.kind !== 'end' || next.outcome !== 'done') return follow(session, at, rules)
  const said = session.lastWord?.text ?? null
  const { verdict, reasons } = prove({ state: 'done', reason: next.reason, said, ...shown })
  if (verdict === 'proven') return end(session, at, { ...next, reason: [next.reason, ...reasons].join(', ') })
  const where =
    shown.checked?.kind === 'failed' ? `; oneshot verify ${session.spec.name} runs it again and shows what it says` : ''
  const reason = `${next.reason}, but ${reasons.join('; ')}${where}`
  return end(session, at, { outcome: 'failed', reason, trouble: 'unproven' })
}

/** Whether somebody has to look at what it has done. */
export function isToBeLookedAt({ phase }: Session): boolean {
  return phase.name === 'stopping' && phase.step === 'prove'
}
