import type { Effect } from '../core/effects.ts'
import type { Session } from '../core/session.ts'
import type { Signal } from '../core/signals.ts'
import { chargedTo } from '../core/spending.ts'
import type { Instant } from '../lib/time.ts'
import { Trouble, wordsOf } from '../lib/trouble.ts'
import type { Agent, LaunchRequest } from '../ports/agent.ts'
import type { Clock } from '../ports/clock.ts'
import type { LaunchOrder } from '../ports/work.ts'
import { attemptRef } from './attempt-ref.ts'
import { errandText } from './errand-text.ts'
import { type Archive, findThread, tagOf } from './thread.ts'

/** What belongs to one session of the outside. */
export interface Scene extends Archive {
  readonly clock: Clock
  /** Whether its project keeps a list of its tasks. */
  readonly isTracked: () => boolean
  /** Saves what is there before it begins. */
  readonly saveBefore: (session: Session) => Promise<Signal[]>
  /** What git shows of its work so far. */
  readonly situation: (session: Session) => Promise<string>
}

/**
 * Does one effect in the world and says what was learned by it. Doing it again after a crash changes nothing more.
 * Trouble while launching is a signal; any other trouble is thrown, and the effect stays pending.
 */
export async function perform(effect: Effect, session: Session, world: Scene): Promise<Signal[]> {
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
      const ended = await work.sweep(ref, { force: effect.type === 'kill' || isInsisted(session) })
      work.watch(ref, false)
      work.heard(ref)
      const gone: Signal = { at: clock.now(), type: 'tree.gone', attempt: effect.attempt }
      return ended > 0 && hasEndedByItself(session) ? [leftBehind(ended, gone.at), gone] : [gone]
    }
    case 'close':
      await work.close(attemptRef(session))
      return []
  }
}

/** A command that was not stopped; agents always leave helpers behind. */
function hasEndedByItself({ exit, spec, wanted }: Session): boolean {
  return exit !== null && wanted === 'run' && spec.proof === 'exit-code'
}

function leftBehind(count: number, at: Instant): Signal {
  const what = count === 1 ? '1 process that it left running was' : `${count} processes that it left running were`
  return { at, type: 'trouble.noted', note: `${what} ended` }
}

/** A sweep that was begun again and again, because its supervisors died, is no longer polite once it has taken too long. */
function isInsisted({ phase }: Session): boolean {
  return phase.name === 'stopping' && phase.step === 'kill'
}

async function launch(effect: Extract<Effect, { type: 'launch' }>, session: Session, world: Scene): Promise<Signal[]> {
  const { work, clock } = world
  const isStillMeant = session.attempt === effect.attempt && session.phase.name === 'starting'
  if (!isStillMeant) return []
  const { cwd } = session.spec
  if (!work.isFolder(cwd) && !work.evidence(attemptRef(session)).isClaimed) {
    const question = `its folder ${cwd} is gone`
    return [{ at: clock.now(), type: 'launch.impossible', attempt: effect.attempt, question }]
  }
  const learned = session.attempt === 1 ? await world.saveBefore(session) : []
  try {
    const situation = session.errand?.kind === 'digest' ? await world.situation(session) : ''
    await work.launch(launchOrder(session, world, situation))
    return learned
  } catch (cause) {
    if (!(cause instanceof Trouble)) throw cause
    return [
      ...learned,
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

function launchOrder(session: Session, world: Scene, situation: string): LaunchOrder {
  const { spec } = session
  const { agent } = world
  const request = launchRequest(session, world)
  const plan = agent.plan(request)
  return {
    ...attemptRef(session),
    argv: plan.argv,
    cwd: spec.cwd,
    ...(spec.umask !== undefined && { umask: spec.umask }),
    env: plan.env,
    stdin: plan.stdin === 'text' ? errandBytes(session, world, situation) : undefined,
    thread: agent.takesPrompt ? `${agent.kind}-${request.resume ?? request.tag}` : null,
    memory: spec.memory,
    mergeStderr: agent.read === undefined,
    show: showOf(agent),
  }
}

/**
 * A thread is resumed when its record is there, and else begun: a crash may have come before there was one. Where there was
 * a record once, its thread is asked for all the same, so that the agent itself says that it is lost.
 */
function launchRequest(session: Session, archive: Archive): LaunchRequest {
  const { work, agent } = archive
  const { spec, thread, errand, spending } = session
  const hasRecord = thread.heard > 0 || agent.find === undefined
  const isFirst = thread.id === null && thread.from === session.attempt // Then nobody can have written in it yet.
  const resume = (isFirst ? null : findThread(session, archive)?.thread) ?? (hasRecord ? thread.id : null)
  const spent = chargedTo(spending)
  const left = (limit: number | null, used: number): number | null =>
    limit === null ? null : Math.max(0, limit - used)
  return {
    argv: spec.argv,
    mode: spec.mode,
    cwd: spec.cwd,
    env: work.environment(spec.id),
    resume,
    tag: tagOf(session),
    isContinuation: errand?.kind === 'continue',
    autonomy: spec.autonomy,
    model: spec.model,
    effort: spec.effort,
    budget: { usd: left(spec.limits.usd, spent.usd ?? 0), turns: left(spec.limits.turns, spent.turns) },
  }
}

/** A prompt may hold any bytes, and is handed on as it came. */
function errandBytes(session: Session, { work, isTracked }: Scene, situation: string): Uint8Array {
  const { errand, spec } = session
  if (errand?.kind === 'message') return work.message(spec.id, errand.message)
  const hints = { situation, isTracked: errand?.kind === 'digest' && isTracked() }
  return new TextEncoder().encode(errandText(session, work, hints))
}

export function showOf(agent: Agent): LaunchOrder['show'] {
  return agent.read === undefined ? 'output' : 'transcript'
}
