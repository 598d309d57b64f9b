import { conclude, relaunchOrEnd } from './concluding.ts'
import {
  endGreedy,
  endHung,
  endVerbose,
  reconsider,
  sweepAfterStop,
  sweepAndJudge,
  sweepUnstarted,
  takeLate,
  tryLaterOrGiveUp,
  waitForHelp,
} from './ending.ts'
import { chargeChildren, listen } from './hearing.ts'
import {
  noteTrouble,
  rememberCheckpoint,
  rememberFailedPush,
  rememberFailure,
  rememberNothing,
  rememberPush,
} from './keeping.ts'
import { block, rememberLastWord, rememberLife, rememberRecord, rememberThread, start, unblock } from './living.ts'
import { accept, acceptInstead, amend, goOn, wakeToGoOn, wakeToRead } from './messages.ts'
import { judgeWork } from './judge-work.ts'
import type { Rules } from './rules.ts'
import { type In, isIdle, type PhaseName, type Session } from './session.ts'
import type { SignalOf, SignalType } from './signals.ts'
import { nothing, type Step } from './step.ts'
import { nameTasks } from './planning.ts'
import { enforceDeadline, hold, holdInstead, insist, interruptNewborn, stop, stopInstead } from './stopping.ts'

type Reaction<P extends PhaseName, T extends SignalType> = (session: In<P>, signal: SignalOf<T>, rules: Rules) => Step

/** Every phase answers every signal, aloud, even if the answer is `ignore`. */
export type Reactions = { readonly [P in PhaseName]: { readonly [T in SignalType]: Reaction<P, T> } }

const ignore = (session: Session): Step => nothing(session)

/** A blocked session may have nothing alive: then it can say nothing more. */
function whileAlive<T extends SignalType>(react: Reaction<PhaseName, T>): Reaction<'blocked', T> {
  return (session, signal, rules) => (isIdle(session) ? nothing(session) : react(session, signal, rules))
}

/** What was saved and planned is remembered whatever the session is at. */
const KEEPING = {
  'checkpoint.saved': rememberCheckpoint,
  'checkpoint.unneeded': rememberNothing,
  'checkpoint.failed': rememberFailure,
  'checkpoint.pushed': rememberPush,
  'checkpoint.unpushed': rememberFailedPush,
  'trouble.noted': noteTrouble,
  'children.charged': chargeChildren,
  'user.tasks': nameTasks,
  'user.amend': amend,
} as const

export const REACTIONS: Reactions = {
  starting: {
    'attempt.started': start,
    'launch.failed': tryLaterOrGiveUp,
    'launch.impossible': waitForHelp,
    'agent.threaded': rememberThread,
    'agent.asked': block,
    'agent.answered': ignore,
    'agent.told': listen,
    'agent.finished': rememberLastWord,
    'thread.surveyed': rememberRecord,
    'process.died': sweepAndJudge,
    'agent.hung': endHung,
    'memory.exceeded': endGreedy,
    'output.exceeded': endVerbose,
    'tree.gone': ignore,
    'work.shown': ignore,
    'user.message': accept,
    'user.resume': ignore,
    'user.stop': stop,
    'user.hold': hold,
    'clock.due': enforceDeadline,
    ...KEEPING,
  },
  running: {
    'attempt.started': rememberLife,
    'launch.failed': ignore,
    'launch.impossible': ignore,
    'agent.threaded': rememberThread,
    'agent.asked': block,
    'agent.answered': ignore,
    'agent.told': listen,
    'agent.finished': rememberLastWord,
    'thread.surveyed': rememberRecord,
    'process.died': sweepAndJudge,
    'agent.hung': endHung,
    'memory.exceeded': endGreedy,
    'output.exceeded': endVerbose,
    'tree.gone': ignore,
    'work.shown': ignore,
    'user.message': accept,
    'user.resume': ignore,
    'user.stop': stop,
    'user.hold': hold,
    'clock.due': enforceDeadline,
    ...KEEPING,
  },
  blocked: {
    'attempt.started': whileAlive(rememberLife),
    'launch.failed': ignore,
    'launch.impossible': ignore,
    'agent.threaded': whileAlive(rememberThread),
    'agent.asked': whileAlive(block),
    'agent.answered': whileAlive(unblock),
    'agent.told': whileAlive(listen),
    'agent.finished': whileAlive(rememberLastWord),
    'thread.surveyed': whileAlive(rememberRecord),
    'process.died': whileAlive(sweepAndJudge),
    'agent.hung': ignore,
    'memory.exceeded': whileAlive(endGreedy),
    'output.exceeded': whileAlive(endVerbose),
    'tree.gone': ignore,
    'work.shown': ignore,
    'user.message': accept,
    'user.resume': goOn,
    'user.stop': stop,
    'user.hold': hold,
    'clock.due': enforceDeadline,
    ...KEEPING,
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
    'user.message': accept,
    'user.resume': goOn,
    'user.stop': stop,
    'user.hold': hold,
    'clock.due': relaunchOrEnd,
    ...KEEPING,
  },
  stopping: {
    'attempt.started': interruptNewborn,
    'launch.failed': sweepUnstarted,
    'launch.impossible': sweepUnstarted,
    'agent.threaded': rememberThread,
    'agent.asked': ignore,
    'agent.answered': ignore,
    'agent.told': takeLate,
    'agent.finished': reconsider,
    'thread.surveyed': rememberRecord,
    'process.died': sweepAfterStop,
    'agent.hung': ignore,
    'memory.exceeded': ignore,
    'output.exceeded': ignore,
    'tree.gone': conclude,
    'work.shown': judgeWork,
    'user.message': acceptInstead,
    'user.resume': ignore,
    'user.stop': stopInstead,
    'user.hold': holdInstead,
    'clock.due': insist,
    ...KEEPING,
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
    'user.message': wakeToRead,
    'user.resume': wakeToGoOn,
    'user.stop': ignore,
    'user.hold': ignore,
    'clock.due': ignore,
    ...KEEPING,
  },
}
