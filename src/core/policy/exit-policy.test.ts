import { expect, test } from 'vitest'
import type { FailureKind } from '../session/failure.ts'
import { classifyExit } from './exit-policy.ts'
import type { Exit, TurnResult } from '../session/attempt.ts'
import type { SuccessCriterion } from '../session/session-state.ts'

const zero: Exit = { kind: 'code', code: 0 }
const one: Exit = { kind: 'code', code: 1 }
const killed: Exit = { kind: 'signal', signal: 'SIGKILL' }
const vanished: Exit = { kind: 'vanished', evidence: 'pid 7 is gone' }
const good: TurnResult = { ok: true, text: 'all of it' }
const bad = failing('other', 'no such file')

function failing(
  kind: FailureKind,
  text: string,
  resetAt: number | null = null,
  remedy: string | null = null,
): TurnResult {
  return { ok: false, text, failure: { kind, text, resetAt, remedy } }
}

test.each<[SuccessCriterion, Exit, TurnResult | null, string, string]>([
  ['exit-code', zero, null, 'done', 'exit code 0'],
  ['exit-code', one, null, 'failed', 'exit code 1'],
  ['exit-code', killed, null, 'failed', 'killed by SIGKILL'],
  ['exit-code', vanished, null, 'failed', 'gone without an exit record (pid 7 is gone)'],
  ['end-event', zero, good, 'done', 'the agent ended its turn, exit code 0'],
  ['end-event', zero, null, 'crashed', 'exit code 0 before the agent ended its turn'],
  ['end-event', one, good, 'crashed', 'exit code 1 although the agent had ended its turn'],
  ['end-event', killed, null, 'crashed', 'killed by SIGKILL before the agent ended its turn'],
  ['end-event', zero, bad, 'failed', 'the agent ended its turn with a failure: no such file'],
  [
    'end-event',
    vanished,
    good,
    'crashed',
    'gone without an exit record (pid 7 is gone) although the agent had ended its turn',
  ],
])('by %s, %j after the report %j means %s', (proof, exit, result, kind, reason) => {
  expect(classifyExit(proof, { exit, result })).toMatchObject({ kind, reason })
})

test.each<[TurnResult, object]>([
  [
    failing('rate-limit', 'resets 9am', 9_000),
    { kind: 'outage', reason: 'usage limit: resets 9am', trouble: 'rate-limit', until: 9_000, isLimit: true },
  ],
  [
    failing('overloaded', '529'),
    {
      kind: 'outage',
      reason: "the model's servers report a problem: 529",
      trouble: 'overloaded',
      until: null,
      isLimit: false,
    },
  ],
  [
    failing('network', 'ECONNRESET'),
    {
      kind: 'outage',
      reason: 'no connection to the model: ECONNRESET',
      trouble: 'network',
      until: null,
      isLimit: false,
    },
  ],
  [
    failing('login', 'no key', null, 'claude /login'),
    { kind: 'blocked', reason: 'the agent is not logged in: no key', trouble: 'login', remedy: 'claude /login' },
  ],
  [
    failing('untrusted', 'this folder is not trusted', null, 'trust it'),
    { kind: 'blocked', reason: 'this folder is not trusted', trouble: 'untrusted', remedy: 'trust it' },
  ],
  [
    failing('context', 'too long'),
    { kind: 'thread-spent', reason: 'the conversation has grown too long: too long', trouble: 'context', isFull: true },
  ],
  [
    failing('thread-lost', 'not found'),
    {
      kind: 'thread-spent',
      reason: 'the conversation could not be resumed: not found',
      trouble: 'thread-lost',
      isFull: false,
    },
  ],
  [failing('budget', 'the budget'), { kind: 'budget', reason: 'the budget' }],
  [failing('denied', 'Bash'), { kind: 'failed', reason: 'the agent was refused a tool: Bash', trouble: 'denied' }],
  [
    failing('empty', 'nothing'),
    { kind: 'failed', reason: 'the agent ended its turn without a result: nothing', trouble: 'empty' },
  ],
  [
    failing('setup', 'as root', null, 'do not'),
    { kind: 'failed', reason: 'the agent cannot work like this: as root (do not)', trouble: 'setup' },
  ],
])('the report %j means %j, whatever the exit code', (result, verdict) => {
  for (const exit of [zero, one, killed, vanished]) expect(classifyExit('end-event', { exit, result })).toEqual(verdict)
})
