import {
  conclude,
  end,
  enforceDeadline,
  insist,
  interruptNewborn,
  reconsider,
  relaunchOrEnd,
  stop,
  stopInstead,
  sweepAfterStop,
  sweepAndJudge,
  sweepUnstarted,
  tryLaterOrGiveUp,
} from './ending.ts'
import { block, rememberLastWord, rememberLife, rememberThread, start, unblock } from './living.ts'
import type { Rules } from './rules.ts'
import type { In, PhaseName, Session } from './session.ts'
import type { SignalOf, SignalType } from './signals.ts'
import { nothing, type Step } from './step.ts'

type Reaction<P extends PhaseName, T extends SignalType> = (session: In<P>, signal: SignalOf<T>, rules: Rules) => Step

/** Every phase answers every signal, aloud, even if the answer is `ignore`. */
export type Reactions = { readonly [P in PhaseName]: { readonly [T in SignalType]: Reaction<P, T> } }

const ignore = (session: Session): Step => nothing(session)

export const REACTIONS: Reactions = {
  starting: {
    'attempt.started': start,
    'launch.failed': tryLaterOrGiveUp,
    'agent.threaded': rememberThread,
    'agent.asked': block,
    'agent.answered': ignore,
    'agent.finished': rememberLastWord,
    'process.died': sweepAndJudge,
    'tree.gone': ignore,
    'user.stop': stop,
    'clock.due': enforceDeadline,
  },
  running: {
    'attempt.started': rememberLife,
    'launch.failed': ignore,
    'agent.threaded': rememberThread,
    'agent.asked': block,
    'agent.answered': ignore,
    'agent.finished': rememberLastWord,
    'process.died': sweepAndJudge,
    'tree.gone': ignore,
    'user.stop': stop,
    'clock.due': enforceDeadline,
  },
  blocked: {
    'attempt.started': rememberLife,
    'launch.failed': ignore,
    'agent.threaded': rememberThread,
    'agent.asked': block,
    'agent.answered': unblock,
    'agent.finished': rememberLastWord,
    'process.died': sweepAndJudge,
    'tree.gone': ignore,
    'user.stop': stop,
    'clock.due': enforceDeadline,
  },
  resting: {
    'attempt.started': ignore,
    'launch.failed': ignore,
    'agent.threaded': rememberThread,
    'agent.asked': ignore,
    'agent.answered': ignore,
    'agent.finished': ignore,
    'process.died': ignore,
    'tree.gone': ignore,
    'user.stop': (session, signal) => end(session, signal.at, 'stopped', 'stopped by you while it was resting'),
    'clock.due': relaunchOrEnd,
  },
  stopping: {
    'attempt.started': interruptNewborn,
    'launch.failed': sweepUnstarted,
    'agent.threaded': rememberThread,
    'agent.asked': ignore,
    'agent.answered': ignore,
    'agent.finished': reconsider,
    'process.died': sweepAfterStop,
    'tree.gone': conclude,
    'user.stop': stopInstead,
    'clock.due': insist,
  },
  ended: {
    'attempt.started': ignore,
    'launch.failed': ignore,
    'agent.threaded': ignore,
    'agent.asked': ignore,
    'agent.answered': ignore,
    'agent.finished': ignore,
    'process.died': ignore,
    'tree.gone': ignore,
    'user.stop': ignore,
    'clock.due': ignore,
  },
}
