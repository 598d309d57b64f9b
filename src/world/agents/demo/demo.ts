import { oneLine } from '../../../lib/terminal-text.ts'
import type { Agent, Observation } from '../../../ports/agent.ts'
import type { DemoEvent } from './events.ts'

/** The embedded agent: no account, no network, real work and real misfortunes. Resumes by thread id. */
export function demo(argv: readonly string[], threads: string): Agent {
  return {
    kind: 'demo',
    proof: 'end-event',
    defaultMode: 'headless',
    takesPrompt: true,
    program: argv,
    plan: ({ argv: own, resume }) => ({
      argv: resume === null ? own : [...own, '--resume', resume],
      env: { ONESHOT_DEMO_THREADS: threads },
      stdin:
        resume === null ? 'prompt' : { text: 'Your process was ended before the work was. Go on where you left off.' },
    }),
    read: line => {
      const event = parse(line)
      return event === undefined
        ? { observations: [], text: `${line}\n` }
        : { observations: meaning(event), text: words(event) }
    },
  }
}

function parse(line: string): DemoEvent | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && 'type' in value ? (value as DemoEvent) : undefined
  } catch {
    return undefined // Not an event; it is shown as it is.
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
    case 'turn.ended':
      return [{ type: 'finished', word: { ok: event.ok, text: oneLine(event.text) } }]
    default:
      return []
  }
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
