import type { Instant } from '../lib/time.ts'
import type { Failure } from './failure.ts'
import type { Exit, LastWord, Proof } from './session.ts'

export type EndVerdict =
  | { readonly kind: 'done'; readonly reason: string }
  /** It would fail again. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** It died before its work was over; trying again is worth it. */
  | { readonly kind: 'crashed'; readonly reason: string }
  /** Not its fault, and it passes: at that time, where it is known. */
  | { readonly kind: 'outage'; readonly reason: string; readonly until: Instant | null; readonly isLimit: boolean }
  /** Only a person can help. */
  | { readonly kind: 'blocked'; readonly reason: string; readonly remedy: string | null }
  /** The conversation cannot be gone on with. `isFull`: it has grown too long; else it may be only a passing failure. */
  | { readonly kind: 'thread-spent'; readonly reason: string; readonly isFull: boolean }
  | { readonly kind: 'budget'; readonly reason: string }

/** Decides what the end of an attempt means. An exit code alone never makes an agent's work done. */
export function judgeEnd(proof: Proof, exit: Exit, word: LastWord | null): EndVerdict {
  const how = describeExit(exit)
  if (proof === 'exit-code') {
    const isDone = exit.kind === 'code' && exit.code === 0
    return { kind: isDone ? 'done' : 'failed', reason: how }
  }
  if (word === null) return { kind: 'crashed', reason: `${how} before the agent ended its turn` }
  if (!word.ok) return judgeFailure(word.failure)
  if (exit.kind === 'code' && exit.code === 0) return { kind: 'done', reason: `the agent ended its turn, ${how}` }
  return { kind: 'crashed', reason: `${how} although the agent had ended its turn` }
}

function judgeFailure({ kind, text, resetAt, remedy }: Failure): EndVerdict {
  switch (kind) {
    case 'rate-limit':
      return { kind: 'outage', reason: `usage limit: ${text}`, until: resetAt, isLimit: true }
    case 'overloaded':
      return { kind: 'outage', reason: `the model's servers are in trouble: ${text}`, until: resetAt, isLimit: false }
    case 'network':
      return { kind: 'outage', reason: `no connection to the model: ${text}`, until: null, isLimit: false }
    case 'login':
      return { kind: 'blocked', reason: `the agent is not logged in: ${text}`, remedy }
    case 'context':
      return { kind: 'thread-spent', reason: `the conversation has grown too long: ${text}`, isFull: true }
    case 'thread-lost':
      return { kind: 'thread-spent', reason: `the conversation could not be resumed: ${text}`, isFull: false }
    case 'budget':
      return { kind: 'budget', reason: text }
    case 'denied':
      return { kind: 'failed', reason: withRemedy(`the agent was refused a tool: ${text}`, remedy) }
    case 'empty':
      return { kind: 'failed', reason: withRemedy(`the agent ended its turn without a result: ${text}`, remedy) }
    case 'setup':
      return { kind: 'failed', reason: withRemedy(`the agent cannot work like this: ${text}`, remedy) }
    case 'other':
      return { kind: 'failed', reason: withRemedy(`the agent ended its turn with a failure: ${text}`, remedy) }
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
      return `gone without an exit record (${exit.evidence})`
  }
}
