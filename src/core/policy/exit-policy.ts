import { type Instant, formatDuration } from '../../lib/time.ts'
import type { Failure, ProblemKind } from '../session/failure.ts'
import type { Exit, TurnResult } from '../session/attempt.ts'
import type { SuccessCriterion, NextStep, Session } from '../session/session-state.ts'
import { retryTimeAfterOutage, scheduleRestart, reasonNotToWait } from './restart-schedule.ts'
import { checkBudget } from '../session/usage.ts'

export type ExitClass =
  | { readonly kind: 'done'; readonly reason: string }
  /** Another attempt would fail again. */
  | { readonly kind: 'failed'; readonly reason: string; readonly trouble: ProblemKind }
  /** The agent died before its work was over; a restart is worthwhile. */
  | { readonly kind: 'crashed'; readonly reason: string; readonly trouble: ProblemKind }
  /** The machine restarted. */
  | { readonly kind: 'rebooted'; readonly reason: string }
  /** The session is not at fault, and the outage passes: at `until`, if that time is known. */
  | {
      readonly kind: 'outage'
      readonly reason: string
      readonly trouble: ProblemKind
      readonly until: Instant | null
      readonly isLimit: boolean
    }
  /** Only a person can help. */
  | { readonly kind: 'blocked'; readonly reason: string; readonly trouble: ProblemKind; readonly remedy: string | null }
  /** The agent cannot continue the conversation. `isFull`: it has grown too long; else the failure may pass. */
  | { readonly kind: 'thread-spent'; readonly reason: string; readonly trouble: ProblemKind; readonly isFull: boolean }
  | { readonly kind: 'budget'; readonly reason: string }

/** The known facts about the end of an attempt. `memory`: the evidence of too little memory, if there is any. */
export interface AttemptExit {
  readonly exit: Exit
  readonly result: TurnResult | null
  readonly memory?: string | null
}

/** Decides what the end of an attempt means. An exit code alone never proves an agent's work. */
export function classifyExit(proof: SuccessCriterion, { exit, result, memory = null }: AttemptExit): ExitClass {
  const how = memory === null ? describeExit(exit) : `out of memory: ${describeExit(exit)}, ${memory}`
  const trouble = memory === null ? 'crash' : 'memory'
  if (exit.kind === 'vanished' && exit.isReboot) return { kind: 'rebooted', reason: exit.evidence }
  if (proof === 'exit-code') {
    const isDone = exit.kind === 'code' && exit.code === 0
    return isDone ? { kind: 'done', reason: how } : { kind: 'failed', reason: how, trouble }
  }
  if (result === null) return { kind: 'crashed', reason: `${how} before the agent ended its turn`, trouble }
  if (!result.ok) return classifyFailure(result.failure)
  if (exit.kind === 'code' && exit.code === 0)
    return { kind: 'done', reason: result.isVerdict === true ? result.text : `the agent ended its turn, ${how}` }
  return { kind: 'crashed', reason: `${how} although the agent had ended its turn`, trouble }
}

function classifyFailure({ kind: trouble, text, resetAt, remedy }: Failure): ExitClass {
  switch (trouble) {
    case 'rate-limit':
      return { kind: 'outage', reason: `usage limit: ${text}`, trouble, until: resetAt, isLimit: true }
    case 'overloaded':
      return {
        kind: 'outage',
        reason: `the model's servers report a problem: ${text}`,
        trouble,
        until: resetAt,
        isLimit: false,
      }
    case 'network':
      return { kind: 'outage', reason: `no connection to the model: ${text}`, trouble, until: null, isLimit: false }
    case 'login':
      return { kind: 'blocked', reason: `the agent is not logged in: ${text}`, trouble, remedy }
    case 'context':
      return { kind: 'thread-spent', reason: `the conversation has grown too long: ${text}`, trouble, isFull: true }
    case 'thread-lost':
      return { kind: 'thread-spent', reason: `the conversation could not be resumed: ${text}`, trouble, isFull: false }
    case 'budget':
      return { kind: 'budget', reason: text }
    case 'denied':
      return { kind: 'failed', reason: withRemedy(`the agent was refused a tool: ${text}`, remedy), trouble }
    case 'empty':
      return {
        kind: 'failed',
        reason: withRemedy(`the agent ended its turn without a result: ${text}`, remedy),
        trouble,
      }
    case 'setup':
      return { kind: 'failed', reason: withRemedy(`the agent cannot work like this: ${text}`, remedy), trouble }
    case 'unfinished':
      return { kind: 'failed', reason: text, trouble }
    case 'untrusted':
    case 'review':
      return { kind: 'blocked', reason: text, trouble, remedy }
    case 'other':
      return { kind: 'failed', reason: withRemedy(`the agent ended its turn with a failure: ${text}`, remedy), trouble }
  }
}

function withRemedy(reason: string, remedy: string | null): string {
  return remedy === null ? reason : `${reason} (${remedy})`
}

export function describeExit(exit: Exit): string {
  switch (exit.kind) {
    case 'code':
      return `exit code ${exit.code}`
    case 'signal':
      return `killed by ${exit.signal}`
    case 'vanished':
      return exit.isReboot ? exit.evidence : `gone without an exit record (${exit.evidence})`
  }
}

/** After a reboot, sessions restart spread over this time, not all at once. */
const REBOOT_STAGGER = 10_000

/** The time of an exit, and a random number in [0, 1) for the next step. */
export interface ExitMoment {
  readonly at: Instant
  readonly chance: number
  /** The last activity, if it was before the machine restarted. */
  readonly seenAt?: Instant
}

/** Decides the next step after an attempt's exit. */
export function nextStepAfterExit(verdict: ExitClass, session: Session, moment: ExitMoment): NextStep {
  const { reason } = verdict
  switch (verdict.kind) {
    case 'done':
      return { kind: 'end', outcome: 'done', reason, trouble: null }
    case 'failed': {
      const isTriedAgain = session.spec.proof === 'exit-code' && session.spec.supervision.restart.on === 'failure'
      if (isTriedAgain) return nextStepAfterCrash(session, verdict, moment)
      return { kind: 'end', outcome: 'failed', reason, trouble: verdict.trouble }
    }
    case 'budget':
      return { kind: 'end', outcome: 'stopped', reason, trouble: 'budget' }
    case 'crashed':
      return nextStepAfterCrash(session, verdict, moment)
    case 'rebooted':
      return nextStepAfterReboot(session, reason, moment)
    case 'thread-spent':
      // One failed resume may pass, so it does not end a conversation.
      return nextStepAfterCrash(session, verdict, moment, verdict.isFull || session.thread.losses > 0 ? 'new' : 'same')
    case 'outage':
      return nextStepAfterOutage(session, verdict, moment)
    case 'blocked': {
      const { trouble, remedy } = verdict
      return { kind: 'block', reason, trouble, question: remedy === null ? reason : `${reason} (${remedy})` }
    }
  }
}

/** Decides the next step after a death from which another attempt may recover. */
export function nextStepAfterCrash(
  session: Session,
  { reason, trouble }: { readonly reason: string; readonly trouble: ProblemKind },
  { at, chance }: ExitMoment,
  thread: 'same' | 'new' = 'same',
): NextStep {
  const { restart, limits } = session.spec.supervision
  const overspent = checkBudget(limits, session.spending)
  if (overspent !== null) return { kind: 'end', outcome: 'stopped', reason: overspent, trouble: 'budget' }
  const unforgiven = session.restarts.filter(restartedAt => restartedAt > session.forgivenAt)
  const verdict = scheduleRestart(restart, unforgiven, at, chance)
  if (verdict.kind === 'restart') return { kind: 'rest', until: verdict.at, reason, trouble, cause: 'crash', thread }
  const times = `${restart.limit} ${restart.limit === 1 ? 'restart' : 'restarts'}`
  const history = `${times} within ${formatDuration(restart.window)} did not help; the last attempt: `
  return { kind: 'end', outcome: 'gave-up', reason: `${restart.limit === 0 ? '' : history}${reason}`, trouble }
}

/** A command restarts only if its user allowed it. */
function nextStepAfterReboot({ spec }: Session, reason: string, { at, chance, seenAt = at }: ExitMoment): NextStep {
  if (spec.proof === 'exit-code' && spec.supervision.restart.on === 'crash')
    return { kind: 'end', outcome: 'failed', reason, trouble: 'reboot' }
  const { absence } = spec.supervision.patience
  if (absence !== null && at - seenAt > absence) {
    const question = `${reason}, and it last worked ${formatDuration(at - seenAt)} ago`
    return { kind: 'block', reason, question, trouble: 'absence' }
  }
  const until = at + Math.round(chance * REBOOT_STAGGER)
  return { kind: 'rest', until, reason, trouble: 'reboot', cause: 'reboot', thread: 'same' }
}

function nextStepAfterOutage(
  session: Session,
  verdict: Extract<ExitClass, { kind: 'outage' }>,
  { at, chance }: ExitMoment,
): NextStep {
  const { reason, trouble, isLimit } = verdict
  const until = retryTimeAfterOutage({ ...verdict, inARow: session.outages }, at, chance)
  if (!isLimit) return { kind: 'rest', until, reason, trouble, cause: 'outage', thread: 'same' }
  const objection = reasonNotToWait(session.spec.supervision.patience, { since: session.limitedSince ?? at, until })
  if (objection === null) return { kind: 'rest', until, reason, trouble, cause: 'limit', thread: 'same' }
  return { kind: 'end', outcome: 'stopped', reason: `${reason}; ${objection}`, trouble }
}
