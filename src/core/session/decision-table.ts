import { handleTreeGone, relaunchOrEnd, handleInspectedWork } from './reactions/finish.ts'
import {
  endOutOfMemory,
  endHung,
  endOverOutputLimit,
  handleLateTurnResult,
  handleExitWhileStopping,
  handleExit,
  recordLateExit,
  handleFailedLaunchWhileStopping,
  handleLateUpdate,
  handleUpdateWhileStopping,
  handleFailedLaunch,
  handleImpossibleLaunch,
} from './reactions/exit.ts'
import { chargeChildren, handleAgentUpdate } from './reactions/agent-output.ts'
import {
  recordNote,
  recordCheckpoint,
  recordFailedPush,
  recordFailedCheckpoint,
  recordUnneededCheckpoint,
  recordPush,
  requestCheckpoint,
} from './reactions/checkpoint.ts'
import {
  recordTurnResult,
  recordProcess,
  applyThreadRecord,
  recordThread,
  markRunning,
  recordAnswer,
  waitForAnswer,
} from './reactions/attempt-start-and-turn.ts'
import {
  acceptMessage,
  acceptWhileFinishing,
  amendSession,
  resumeIdle,
  resumeEnded,
  resumeWithMessage,
} from './reactions/user-input.ts'
import type { Timings } from './supervisor-timings.ts'
import type { SessionIn, PhaseName, Session } from './session-state.ts'
import type { SignalOf, SignalType, Signal } from './signals.ts'
import { unchanged, type Decision } from './decision.ts'
import { setUserTasks } from './reactions/tasks.ts'
import {
  blockOnRequest,
  enforceDeadline,
  holdSession,
  holdAtNextStep,
  escalateStop,
  interruptLateStart,
  stopIdle,
  stopSession,
  stopWhileStopping,
  stopWhileVerifying,
} from './reactions/stop.ts'

type Reaction<P extends PhaseName, T extends SignalType> = (
  session: SessionIn<P>,
  signal: SignalOf<T>,
  rules: Timings,
) => Decision

/** Every phase answers every signal: a signal that a row does not answer, or does not ignore by name, does not compile. */
export type DecisionTable = { readonly [P in PhaseName]: { readonly [T in SignalType]: Reaction<P, T> } }

function ignore<T extends SignalType>(...types: readonly T[]): { readonly [K in T]: (session: Session) => Decision } {
  return Object.fromEntries(types.map(type => [type, unchanged])) as { [K in T]: typeof unchanged }
}

/** A session records checkpoints, tasks, notes and charges in every phase. */
const IN_EVERY_PHASE = {
  'checkpoint.saved': recordCheckpoint,
  'checkpoint.unneeded': recordUnneededCheckpoint,
  'checkpoint.failed': recordFailedCheckpoint,
  'checkpoint.pushed': recordPush,
  'checkpoint.unpushed': recordFailedPush,
  'trouble.noted': recordNote,
  'children.charged': chargeChildren,
  'user.tasks': setUserTasks,
  'user.amend': amendSession,
} as const

/** The attempt lives, or is about to. */
const WHILE_LIVE = {
  ...IN_EVERY_PHASE,
  'agent.threaded': recordThread,
  'agent.asked': waitForAnswer,
  'agent.told': handleAgentUpdate,
  'agent.finished': recordTurnResult,
  'thread.surveyed': applyThreadRecord,
  'process.died': handleExit,
  'agent.hung': endHung,
  'memory.exceeded': endOutOfMemory,
  'output.exceeded': endOverOutputLimit,
  'user.message': acceptMessage,
  'user.stop': stopSession,
  'user.hold': holdSession,
  'clock.due': enforceDeadline,
  ...ignore('agent.answered', 'tree.gone', 'work.shown', 'user.resume'),
} as const

/** No attempt lives, so that a signal about one is late. */
const WITHOUT_ATTEMPT = {
  ...IN_EVERY_PHASE,
  ...ignore('attempt.started', 'launch.failed', 'launch.impossible', 'process.died', 'tree.gone', 'work.shown'),
  ...ignore('agent.threaded', 'agent.asked', 'agent.answered', 'agent.told', 'agent.finished', 'thread.surveyed'),
  ...ignore('agent.hung', 'memory.exceeded', 'output.exceeded'),
} as const

export const TABLE: DecisionTable = {
  starting: {
    ...WHILE_LIVE,
    'attempt.started': markRunning,
    'launch.failed': handleFailedLaunch,
    'launch.impossible': handleImpossibleLaunch,
  },
  running: {
    ...WHILE_LIVE,
    'attempt.started': recordProcess,
    ...ignore('launch.failed', 'launch.impossible'),
  },
  waiting: {
    ...WHILE_LIVE,
    'attempt.started': recordProcess,
    'agent.answered': recordAnswer,
    // An agent that waits for an answer is silent, and the wait does not count as working time.
    ...ignore('launch.failed', 'launch.impossible', 'agent.hung', 'clock.due'),
  },
  resting: {
    ...WITHOUT_ATTEMPT,
    'user.message': acceptMessage,
    'user.resume': resumeIdle,
    'user.stop': stopIdle,
    'user.hold': blockOnRequest,
    'clock.due': relaunchOrEnd,
  },
  blocked: {
    ...WITHOUT_ATTEMPT,
    'user.message': acceptMessage,
    'user.resume': resumeIdle,
    'user.stop': stopIdle,
    'user.hold': blockOnRequest,
    ...ignore('clock.due'),
  },
  stopping: {
    ...IN_EVERY_PHASE,
    'attempt.started': interruptLateStart,
    'launch.failed': handleFailedLaunchWhileStopping,
    'launch.impossible': handleFailedLaunchWhileStopping,
    'agent.threaded': recordThread,
    'agent.told': handleUpdateWhileStopping,
    'agent.finished': handleLateTurnResult,
    'thread.surveyed': applyThreadRecord,
    'process.died': handleExitWhileStopping,
    'tree.gone': handleTreeGone,
    'user.message': acceptWhileFinishing,
    'user.stop': stopWhileStopping,
    'user.hold': holdAtNextStep,
    'clock.due': escalateStop,
    ...ignore('agent.asked', 'agent.answered', 'agent.hung', 'memory.exceeded', 'output.exceeded', 'user.resume'),
    ...ignore('work.shown'),
  },
  verifying: {
    ...IN_EVERY_PHASE,
    'agent.threaded': recordThread,
    'agent.told': handleLateUpdate,
    'agent.finished': handleLateTurnResult,
    'thread.surveyed': applyThreadRecord,
    'process.died': recordLateExit,
    'work.shown': handleInspectedWork,
    'user.message': acceptWhileFinishing,
    'user.stop': stopWhileVerifying,
    'user.hold': holdAtNextStep,
    ...ignore('attempt.started', 'launch.failed', 'launch.impossible', 'tree.gone', 'user.resume', 'clock.due'),
    ...ignore('agent.asked', 'agent.answered', 'agent.hung', 'memory.exceeded', 'output.exceeded'),
  },
  ended: {
    ...WITHOUT_ATTEMPT,
    'user.message': resumeWithMessage,
    'user.resume': resumeEnded,
    ...ignore('user.stop', 'user.hold', 'clock.due'),
  },
}

/**
 * Decides what follows from a signal. Pure. A signal about an attempt that is not the current one is late and changes
 * nothing.
 */
export function decide(session: Session, signal: Signal, timings: Timings): Decision {
  if ('attempt' in signal && signal.attempt !== session.attempt.number) return unchanged(session)
  const react = TABLE[session.phase.name][signal.type] as (s: Session, g: Signal, r: Timings) => Decision
  return requestCheckpoint(react(session, signal, timings), session)
}
