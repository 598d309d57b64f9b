import type { FailureKind } from '../../../core/failure.ts'
import type { LastWord } from '../../../core/session.ts'
import { oneLine } from '../../../lib/terminal-text.ts'
import type { Agent, Observation } from '../../../ports/agent.ts'
import { eventInOutput } from '../json.ts'
import type { LoopEvent } from './events.ts'

/**
 * Our own program that works off a list: to its supervisor an agent like any other. What it is to do is in its arguments, and
 * how far it has come in the session's folder, so that each of its lives goes on where the one before was.
 */
export function ralph(kind: 'ralph' | 'build', argv: readonly string[]): Agent {
  return {
    kind,
    proof: 'end-event',
    defaultMode: 'headless',
    modes: ['headless'],
    silence: null,
    takesPrompt: true,
    program: argv,
    plan: ({ argv: own }) => ({ argv: own, env: {}, stdin: 'text' }),
    read: line => {
      const event = eventInOutput(line) as LoopEvent | null
      return event === null
        ? { observations: [], text: `${line}\n` }
        : { observations: meaning(event), text: wordsOf(event) }
    },
  }
}

function meaning(event: LoopEvent): Observation[] {
  switch (event.type) {
    case 'loop':
      return [{ type: 'threaded', thread: event.thread }]
    case 'tasks':
      return [{ type: 'planned', tasks: event.tasks }]
    case 'spent':
      return [{ type: 'spent', scope: 'thread', spending: event.spending }]
    case 'ended':
      return [{ type: 'finished', word: wordOf(event) }]
    default:
      return []
  }
}

function wordOf({ kind, text: said }: Extract<LoopEvent, { type: 'ended' }>): LastWord {
  const text = oneLine(said)
  if (kind === 'done' || kind === 'planned') return { ok: true, text, isVerdict: true }
  const failure: FailureKind = kind
  return { ok: false, text, failure: { kind: failure, text, resetAt: null, remedy: null } }
}

function wordsOf(event: LoopEvent): string | null {
  return event.type === 'say' || event.type === 'ended' ? `${event.text}\n` : null
}
