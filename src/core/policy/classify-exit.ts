import type { Instant } from '../../lib/time.ts'
import type { Failure, ProblemKind } from '../session/failure.ts'
import type { Exit, TurnResult, SuccessCriterion } from '../session/session.ts'

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
  readonly word: TurnResult | null
  readonly memory?: string | null
}

/** Decides what the end of an attempt means. An exit code alone never proves an agent's work. */
export function classifyExit(proof: SuccessCriterion, { exit, word, memory = null }: AttemptExit): ExitClass {
  const how = memory === null ? describeExit(exit) : `out of memory: ${describeExit(exit)}, ${memory}`
  const trouble = memory === null ? 'crash' : 'memory'
  if (exit.kind === 'vanished' && exit.isReboot) return { kind: 'rebooted', reason: exit.evidence }
  if (proof === 'exit-code') {
    const isDone = exit.kind === 'code' && exit.code === 0
    return isDone ? { kind: 'done', reason: how } : { kind: 'failed', reason: how, trouble }
  }
  if (word === null) return { kind: 'crashed', reason: `${how} before the agent ended its turn`, trouble }
  if (!word.ok) return classifyFailure(word.failure)
  if (exit.kind === 'code' && exit.code === 0)
    return { kind: 'done', reason: word.isVerdict === true ? word.text : `the agent ended its turn, ${how}` }
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
