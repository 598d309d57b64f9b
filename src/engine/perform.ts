import type { Effect } from '../core/session/decision.ts'
import type { Session } from '../core/session/session-state.ts'
import type { Signal } from '../core/session/signals.ts'
import { chargedUsage } from '../core/session/usage.ts'
import type { Instant } from '../lib/time.ts'
import { Trouble, errorMessage } from '../lib/errors.ts'
import type { Agent, LaunchRequest } from '../ports/agent.ts'
import type { Clock } from '../ports/clock.ts'
import type { LaunchSpec } from '../ports/runtime.ts'
import { attemptRef } from '../ports/runtime.ts'
import { turnInputText } from './turn-input.ts'
import { type ThreadContext, findThread, threadTag } from './thread-survey.ts'

/** The parts of the outside that belong to one session. */
export interface SessionContext extends ThreadContext {
  readonly clock: Clock
  /** Returns true when the project has a task tracker. */
  readonly isTracked: () => boolean
  /** Saves a checkpoint of the state before the first attempt. */
  readonly saveBeforeStart: (session: Session) => Promise<Signal[]>
  /** Returns git's summary of the work so far. */
  readonly gitSummary: (session: Session) => Promise<string>
}

/**
 * Performs one effect and returns the signals that result from it. A repeated call after a crash changes nothing more.
 * Turns trouble during a launch into a signal; throws any other trouble, and the effect stays pending.
 */
export async function performEffect(effect: Effect, session: Session, context: SessionContext): Promise<Signal[]> {
  const { work: runtime, clock } = context
  switch (effect.type) {
    case 'launch':
      return performLaunch(effect, session, context)
    case 'interrupt':
      await runtime.interrupt(attemptRef(session, effect.attempt))
      return []
    case 'terminate':
      await runtime.terminate(attemptRef(session, effect.attempt))
      return []
    case 'sweep':
    case 'kill': {
      const ref = attemptRef(session, effect.attempt)
      const ended = await runtime.sweep(ref, { force: effect.type === 'kill' || isKilling(session) })
      runtime.watchOutput(ref, false)
      runtime.acknowledge(ref)
      const gone: Signal = { at: clock.now(), type: 'tree.gone', attempt: effect.attempt }
      return ended > 0 && hasEndedByItself(session) ? [leftoverProcessesSignal(ended, gone.at), gone] : [gone]
    }
    case 'close':
      await runtime.closePanes(attemptRef(session))
      return []
  }
}

/**
 * Returns true for a command that ended without a stop request. Agents always leave helper processes behind, so they do
 * not count.
 */
function hasEndedByItself({ attempt: { exit }, spec, wanted }: Session): boolean {
  return exit !== null && wanted === 'run' && spec.proof === 'exit-code'
}

function leftoverProcessesSignal(count: number, at: Instant): Signal {
  const what = count === 1 ? '1 process that it left running was' : `${count} processes that it left running were`
  return { at, type: 'trouble.noted', note: `${what} ended` }
}

/**
 * Returns true once an ending has taken too long. A sweep that restarts after each supervisor's death then kills at
 * once.
 */
function isKilling({ phase }: Session): boolean {
  return phase.name === 'stopping' && phase.step === 'kill'
}

async function performLaunch(
  effect: Extract<Effect, { type: 'launch' }>,
  session: Session,
  context: SessionContext,
): Promise<Signal[]> {
  const { work: runtime, clock } = context
  const isStillMeant = session.attempt.number === effect.attempt && session.phase.name === 'starting'
  if (!isStillMeant) return []
  const { cwd } = session.spec
  if (!runtime.isDirectory(cwd) && !runtime.attemptState(attemptRef(session)).isClaimed) {
    const question = `its folder ${cwd} is gone`
    return [{ at: clock.now(), type: 'launch.impossible', attempt: effect.attempt, question }]
  }
  const learned = session.attempt.number === 1 ? await context.saveBeforeStart(session) : []
  try {
    const gitSummary = session.attempt.input?.kind === 'digest' ? await context.gitSummary(session) : ''
    await runtime.launch(launchSpec(session, context, gitSummary))
    return learned
  } catch (cause) {
    if (!(cause instanceof Trouble)) throw cause
    return [
      ...learned,
      {
        at: clock.now(),
        type: 'launch.failed',
        attempt: effect.attempt,
        reason: errorMessage(cause),
        chance: clock.random(),
      },
    ]
  }
}

function launchSpec(session: Session, context: SessionContext, gitSummary: string): LaunchSpec {
  const { spec } = session
  const { agent } = context
  const request = launchRequest(session, context)
  const plan = agent.planLaunch(request)
  return {
    ...attemptRef(session),
    argv: plan.argv,
    cwd: spec.cwd,
    ...(spec.umask !== undefined && { umask: spec.umask }),
    env: plan.env,
    stdin: plan.stdin === 'text' ? turnInputBytes(session, context, gitSummary) : undefined,
    thread: agent.takesPrompt ? `${agent.kind}-${request.resume ?? request.tag}` : null,
    memory: spec.supervision.memory,
    mergeStderr: agent.readLine === undefined,
    show: shownOutput(agent),
  }
}

/**
 * Resumes the thread if its record exists, and otherwise begins it: a crash may come before the first record. If a
 * record existed once, the launch still names its thread, so that the agent itself reports the loss.
 */
function launchRequest(session: Session, context: ThreadContext): LaunchRequest {
  const { work: runtime, agent } = context
  const { spec, thread, spending } = session
  const { input } = session.attempt
  const hasRecord = thread.heard > 0 || agent.findThread === undefined
  const isFirst = thread.id === null && thread.from === session.attempt.number // Then no attempt can have written in it yet.
  const resume = (isFirst ? null : findThread(session, context)?.thread) ?? (hasRecord ? thread.id : null)
  const spent = chargedUsage(spending)
  const left = (limit: number | null, used: number): number | null =>
    limit === null ? null : Math.max(0, limit - used)
  return {
    argv: spec.argv,
    mode: spec.mode,
    cwd: spec.cwd,
    env: runtime.readEnvironment(spec.id),
    resume,
    tag: threadTag(session),
    isContinuation: input?.kind === 'continue',
    autonomy: spec.autonomy,
    model: spec.model,
    effort: spec.effort,
    budget: {
      usd: left(spec.supervision.limits.usd, spent.usd ?? 0),
      turns: left(spec.supervision.limits.turns, spent.turns),
    },
  }
}

/** Returns a message byte for byte: a prompt may hold any bytes. */
function turnInputBytes(
  session: Session,
  { work: runtime, isTracked }: SessionContext,
  gitSummary: string,
): Uint8Array {
  const { spec } = session
  const { input } = session.attempt
  if (input?.kind === 'message') return runtime.readMessage(spec.id, input.message)
  const hints = { situation: gitSummary, isTracked: input?.kind === 'digest' && isTracked() }
  return new TextEncoder().encode(turnInputText(session, runtime, hints))
}

export function shownOutput(agent: Agent): LaunchSpec['show'] {
  return agent.readLine === undefined ? 'output' : 'transcript'
}
