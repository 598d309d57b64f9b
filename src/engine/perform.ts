import type { Effect } from '../core/effects.ts'
import type { Session } from '../core/session.ts'
import type { Signal } from '../core/signals.ts'
import { Trouble, wordsOf } from '../lib/trouble.ts'
import type { Agent } from '../ports/agent.ts'
import type { Clock } from '../ports/clock.ts'
import type { LaunchOrder, Work } from '../ports/work.ts'
import { attemptRef } from './attempt-ref.ts'

/**
 * Does one effect in the world and says what was learned by it. Doing it again after a crash changes nothing more.
 * Trouble while launching is a signal; any other trouble is thrown, and the effect stays pending.
 */
export async function perform(
  effect: Effect,
  session: Session,
  world: { work: Work; agent: Agent; clock: Clock },
): Promise<Signal[]> {
  const { work, clock } = world
  switch (effect.type) {
    case 'launch':
      return launch(effect, session, world)
    case 'interrupt':
      await work.interrupt(attemptRef(session, effect.attempt))
      return []
    case 'terminate':
      await work.terminate(attemptRef(session, effect.attempt))
      return []
    case 'sweep':
    case 'kill': {
      const ref = attemptRef(session, effect.attempt)
      await work.sweep(ref, { force: effect.type === 'kill' })
      work.watch(ref, false)
      work.heard(ref)
      return [{ at: clock.now(), type: 'tree.gone', attempt: effect.attempt }]
    }
    case 'close':
      await work.close(attemptRef(session))
      return []
  }
}

async function launch(
  effect: Extract<Effect, { type: 'launch' }>,
  session: Session,
  { work, agent, clock }: { work: Work; agent: Agent; clock: Clock },
): Promise<Signal[]> {
  const isStillMeant = session.attempt === effect.attempt && session.phase.name === 'starting'
  if (!isStillMeant) return []
  try {
    await work.launch(launchOrder(session, agent, effect.resume))
    return []
  } catch (cause) {
    if (!(cause instanceof Trouble)) throw cause
    return [
      {
        at: clock.now(),
        type: 'launch.failed',
        attempt: effect.attempt,
        reason: wordsOf(cause),
        chance: clock.chance(),
      },
    ]
  }
}

function launchOrder(session: Session, agent: Agent, resume: string | null): LaunchOrder {
  const { spec } = session
  const plan = agent.plan({ argv: spec.argv, resume, mode: spec.mode })
  const text = typeof plan.stdin === 'object' ? new TextEncoder().encode(plan.stdin.text) : plan.stdin
  return {
    ...attemptRef(session),
    argv: plan.argv,
    cwd: spec.cwd,
    ...(spec.umask !== undefined && { umask: spec.umask }),
    env: plan.env,
    stdin: text === 'none' ? undefined : text,
    mergeStderr: agent.read === undefined,
    show: showOf(agent),
  }
}

export function showOf(agent: Agent): LaunchOrder['show'] {
  return agent.read === undefined ? 'output' : 'transcript'
}
