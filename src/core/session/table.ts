import { handleTreeGone, relaunchOrEnd } from './reactions/finish.ts'
import {
  endOutOfMemory,
  endHung,
  endOverOutputLimit,
  handleLateTurnResult,
  handleExitWhileStopping,
  handleExit,
  handleFailedLaunchWhileStopping,
  handleLateUpdate,
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
} from './reactions/checkpoint.ts'
import {
  blockForApproval,
  recordTurnResult,
  recordProcess,
  applyThreadRecord,
  recordThread,
  markRunning,
  unblock,
} from './reactions/running.ts'
import {
  acceptMessage,
  acceptWhileStopping,
  amendSession,
  resumeIdle,
  resumeEnded,
  resumeWithMessage,
} from './reactions/user-input.ts'
import { handleInspectedWork } from './reactions/finish.ts'
import type { Timings } from './defaults.ts'
import { type SessionIn, isIdle, type PhaseName, type Session } from './session.ts'
import type { SignalOf, SignalType } from './signals.ts'
import { unchanged, type Decision } from './decision.ts'
import { setUserTasks } from './reactions/tasks.ts'
import {
  enforceDeadline,
  holdSession,
  holdWhileStopping,
  escalateStop,
  interruptLateStart,
  stopSession,
  stopWhileStopping,
} from './reactions/stop.ts'

type Reaction<P extends PhaseName, T extends SignalType> = (
  session: SessionIn<P>,
  signal: SignalOf<T>,
  rules: Timings,
) => Decision

/** Every phase answers every signal explicitly, even if the answer is `ignore`. */
export type DecisionTable = { readonly [P in PhaseName]: { readonly [T in SignalType]: Reaction<P, T> } }

const ignore = (session: Session): Decision => unchanged(session)

/** Ignores a signal if the blocked session has no live process: an idle session cannot report anything. */
function whileAlive<T extends SignalType>(react: Reaction<PhaseName, T>): Reaction<'blocked', T> {
  return (session, signal, timings) => (isIdle(session) ? unchanged(session) : react(session, signal, timings))
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

export const TABLE: DecisionTable = {
  starting: {
    'attempt.started': markRunning,
    'launch.failed': handleFailedLaunch,
    'launch.impossible': handleImpossibleLaunch,
    'agent.threaded': recordThread,
    'agent.asked': blockForApproval,
    'agent.answered': ignore,
    'agent.told': handleAgentUpdate,
    'agent.finished': recordTurnResult,
    'thread.surveyed': applyThreadRecord,
    'process.died': handleExit,
    'agent.hung': endHung,
    'memory.exceeded': endOutOfMemory,
    'output.exceeded': endOverOutputLimit,
    'tree.gone': ignore,
    'work.shown': ignore,
    'user.message': acceptMessage,
    'user.resume': ignore,
    'user.stop': stopSession,
    'user.hold': holdSession,
    'clock.due': enforceDeadline,
    ...IN_EVERY_PHASE,
  },
  running: {
    'attempt.started': recordProcess,
    'launch.failed': ignore,
    'launch.impossible': ignore,
    'agent.threaded': recordThread,
    'agent.asked': blockForApproval,
    'agent.answered': ignore,
    'agent.told': handleAgentUpdate,
    'agent.finished': recordTurnResult,
    'thread.surveyed': applyThreadRecord,
    'process.died': handleExit,
    'agent.hung': endHung,
    'memory.exceeded': endOutOfMemory,
    'output.exceeded': endOverOutputLimit,
    'tree.gone': ignore,
    'work.shown': ignore,
    'user.message': acceptMessage,
    'user.resume': ignore,
    'user.stop': stopSession,
    'user.hold': holdSession,
    'clock.due': enforceDeadline,
    ...IN_EVERY_PHASE,
  },
  blocked: {
    'attempt.started': whileAlive(recordProcess),
    'launch.failed': ignore,
    'launch.impossible': ignore,
    'agent.threaded': whileAlive(recordThread),
    'agent.asked': whileAlive(blockForApproval),
    'agent.answered': whileAlive(unblock),
    'agent.told': whileAlive(handleAgentUpdate),
    'agent.finished': whileAlive(recordTurnResult),
    'thread.surveyed': whileAlive(applyThreadRecord),
    'process.died': whileAlive(handleExit),
    'agent.hung': ignore,
    'memory.exceeded': whileAlive(endOutOfMemory),
    'output.exceeded': whileAlive(endOverOutputLimit),
    'tree.gone': ignore,
    'work.shown': ignore,
    'user.message': acceptMessage,
    'user.resume': resumeIdle,
    'user.stop': stopSession,
    'user.hold': holdSession,
    'clock.due': enforceDeadline,
    ...IN_EVERY_PHASE,
  },
  resting: {
    'attempt.started': ignore,
    'launch.failed': ignore,
    'launch.impossible': ignore,
    'agent.threaded': ignore,
    'agent.asked': ignore,
    'agent.answered': ignore,
    'agent.told': ignore,
    'agent.finished': ignore,
    'thread.surveyed': ignore,
    'process.died': ignore,
    'agent.hung': ignore,
    'memory.exceeded': ignore,
    'output.exceeded': ignore,
    'tree.gone': ignore,
    'work.shown': ignore,
    'user.message': acceptMessage,
    'user.resume': resumeIdle,
    'user.stop': stopSession,
    'user.hold': holdSession,
    'clock.due': relaunchOrEnd,
    ...IN_EVERY_PHASE,
  },
  stopping: {
    'attempt.started': interruptLateStart,
    'launch.failed': handleFailedLaunchWhileStopping,
    'launch.impossible': handleFailedLaunchWhileStopping,
    'agent.threaded': recordThread,
    'agent.asked': ignore,
    'agent.answered': ignore,
    'agent.told': handleLateUpdate,
    'agent.finished': handleLateTurnResult,
    'thread.surveyed': applyThreadRecord,
    'process.died': handleExitWhileStopping,
    'agent.hung': ignore,
    'memory.exceeded': ignore,
    'output.exceeded': ignore,
    'tree.gone': handleTreeGone,
    'work.shown': handleInspectedWork,
    'user.message': acceptWhileStopping,
    'user.resume': ignore,
    'user.stop': stopWhileStopping,
    'user.hold': holdWhileStopping,
    'clock.due': escalateStop,
    ...IN_EVERY_PHASE,
  },
  ended: {
    'attempt.started': ignore,
    'launch.failed': ignore,
    'launch.impossible': ignore,
    'agent.threaded': ignore,
    'agent.asked': ignore,
    'agent.answered': ignore,
    'agent.told': ignore,
    'agent.finished': ignore,
    'thread.surveyed': ignore,
    'process.died': ignore,
    'agent.hung': ignore,
    'memory.exceeded': ignore,
    'output.exceeded': ignore,
    'tree.gone': ignore,
    'work.shown': ignore,
    'user.message': resumeWithMessage,
    'user.resume': resumeEnded,
    'user.stop': ignore,
    'user.hold': ignore,
    'clock.due': ignore,
    ...IN_EVERY_PHASE,
  },
}
