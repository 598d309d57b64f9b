import type { LastWord } from '../../../core/session.ts'
import { oneLine } from '../../../lib/terminal-text.ts'
import type { Agent, Observation } from '../../../ports/agent.ts'
import { eventInOutput } from '../json.ts'
import type { DemoEvent } from './events.ts'
import { Thread } from './thread.ts'

/** The embedded agent: no account, no network, real work and real misfortunes. Resumes by thread id. */
export function demo(argv: readonly string[], threads: string): Agent {
  return {
    kind: 'demo',
    proof: 'end-event',
    defaultMode: 'headless',
    modes: ['headless', 'tty'],
    silence: 10 * 60_000,
    takesPrompt: true,
    program: argv,
    plan: ({ argv: own, resume, tag, isContinuation }) => ({
      argv: [
        ...own,
        ...(resume === null ? ['--thread', tag] : ['--resume', resume]),
        ...(isContinuation ? ['--go-on'] : []),
      ],
      env: { ONESHOT_DEMO_THREADS: threads },
      stdin: 'text',
    }),
    read: line => {
      const event = eventInOutput(line) as DemoEvent | null
      return event === null
        ? { observations: [], text: `${line}\n` }
        : { observations: meaning(event), text: words(event) }
    },
    find: ({ thread, tag }) => {
      const id = thread ?? tag
      const past = new Thread(threads, id).recall()
      if (past === undefined) return null
      return {
        thread: id,
        messages: past.flatMap(memory => ('text' in memory && memory.kind !== 'answer' ? [memory.text] : [])),
      }
    },
  }
}

function meaning(event: DemoEvent): Observation[] {
  switch (event.type) {
    case 'thread.started':
      return [{ type: 'threaded', thread: event.thread }]
    case 'approval.requested':
      return [{ type: 'asked', question: oneLine(event.question) }]
    case 'approval.answered':
      return [{ type: 'answered' }]
    case 'tool':
      return event.path === undefined ? [] : [{ type: 'edited', path: event.path }]
    case 'turn.ended':
      return [{ type: 'finished', word: wordOf(event) }]
    default:
      return []
  }
}

function wordOf({ ok, text: said }: Extract<DemoEvent, { type: 'turn.ended' }>): LastWord {
  const text = oneLine(said)
  return ok ? { ok, text } : { ok, text, failure: { kind: 'other', text, resetAt: null, remedy: null } }
}

function words(event: DemoEvent): string | null {
  switch (event.type) {
    case 'text':
    case 'turn.ended':
      return `${event.text}\n`
    case 'step':
      return `• step ${event.step} of ${event.of}\n`
    case 'tool':
      return `  ${event.tool} ${event.gist}\n`
    case 'approval.answered':
      return `  answered: ${event.answer}\n`
    default:
      return null
  }
}
