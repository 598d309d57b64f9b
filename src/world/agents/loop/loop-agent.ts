import type { FailureKind } from '../../../core/session/failure.ts'
import type { TurnResult } from '../../../core/session/attempt.ts'
import { toOneLine } from '../../../lib/text/strip-terminal-controls.ts'
import type { Agent, Observation } from '../../../ports/agent.ts'
import { eventInOutput } from '../shared/tolerant-json.ts'
import type { Usage } from '../../../core/session/usage.ts'
import type { Task } from '../../../core/session/tasks-and-tracker-issues.ts'

/**
 * oneshot's own program that works through a task list; the supervisor treats it like any other agent. Its arguments
 * hold the job, and the session's folder holds its progress, so that each process continues where the previous one
 * ended.
 */
export function loopAgent(kind: 'ralph' | 'build', argv: readonly string[]): Agent {
  return {
    kind,
    proof: 'end-event',
    defaultMode: 'headless',
    modes: ['headless'],
    silence: null,
    takesPrompt: true,
    program: argv,
    planLaunch: ({ argv: own }) => ({ argv: own, env: {}, stdin: 'text' }),
    readLine: line => {
      const event = eventInOutput(line) as LoopEvent | null
      return event === null
        ? { observations: [], text: `${line}\n` }
        : { observations: toObservations(event), text: toText(event) }
    },
  }
}

function toObservations(event: LoopEvent): Observation[] {
  switch (event.type) {
    case 'loop':
      return [{ type: 'threaded', thread: event.thread }]
    case 'tasks':
      return [{ type: 'planned', tasks: event.tasks }]
    case 'spent':
      return [{ type: 'spent', scope: 'thread', spending: event.spending }]
    case 'ended':
      return [{ type: 'finished', word: toTurnResult(event) }]
    default:
      return []
  }
}

function toTurnResult({ kind, text: said }: Extract<LoopEvent, { type: 'ended' }>): TurnResult {
  const text = toOneLine(said)
  if (kind === 'done' || kind === 'planned') return { ok: true, text, isVerdict: true }
  const failure: FailureKind = kind
  return { ok: false, text, failure: { kind: failure, text, resetAt: null, remedy: null } }
}

function toText(event: LoopEvent): string | null {
  return event.type === 'say' || event.type === 'ended' ? `${event.text}\n` : null
}

/** The events of a loop's program, one JSON object per line. */
export type LoopEvent =
  | { readonly type: 'loop'; readonly thread: string }
  /** Text for people. */
  | { readonly type: 'say'; readonly text: string }
  /** All tasks of the loop. */
  | { readonly type: 'tasks'; readonly tasks: readonly Omit<Task, 'source'>[] }
  /** The usage of all workers so far. */
  | { readonly type: 'spent'; readonly spending: Usage }
  | { readonly type: 'ended'; readonly kind: 'done' | 'planned' | 'review' | 'unfinished'; readonly text: string }
