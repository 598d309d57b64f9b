import type { TurnResult } from '../../../core/session/attempt.ts'
import { toOneLine } from '../../../lib/text/strip-terminal-controls.ts'
import type { Agent, Observation } from '../../../ports/agent.ts'
import { eventInOutput } from '../shared/tolerant-json.ts'
import { DemoThread } from './thread.ts'

/** The embedded agent needs no account and no network, does real work and really crashes. It resumes by thread id. */
export function demo(argv: readonly string[], threads: string): Agent {
  return {
    kind: 'demo',
    proof: 'end-event',
    defaultMode: 'headless',
    modes: ['headless', 'tty'],
    silence: 10 * 60_000,
    takesPrompt: true,
    program: argv,
    planLaunch: ({ argv: own, resume, tag, isContinuation }) => ({
      argv: [
        ...own,
        ...(resume === null ? ['--thread', tag] : ['--resume', resume]),
        ...(isContinuation ? ['--go-on'] : []),
      ],
      env: { ONESHOT_DEMO_THREADS: threads },
      stdin: 'text',
    }),
    readLine: line => {
      const event = eventInOutput(line) as DemoEvent | null
      return event === null
        ? { observations: [], text: `${line}\n` }
        : { observations: toObservations(event), text: toText(event) }
    },
    findThread: ({ thread, tag }) => {
      const id = thread ?? tag
      const entries = new DemoThread(threads, id).readEntries()
      if (entries === undefined) return null
      return {
        thread: id,
        messages: entries.flatMap(entry => ('text' in entry && entry.kind !== 'answer' ? [entry.text] : [])),
      }
    },
  }
}

function toObservations(event: DemoEvent): Observation[] {
  switch (event.type) {
    case 'thread.started':
      return [{ type: 'threaded', thread: event.thread }]
    case 'approval.requested':
      return [{ type: 'asked', question: toOneLine(event.question) }]
    case 'approval.answered':
      return [{ type: 'answered' }]
    case 'tool':
      return event.path === undefined ? [] : [{ type: 'edited', path: event.path }]
    case 'turn.ended':
      return [{ type: 'finished', word: toTurnResult(event) }]
    default:
      return []
  }
}

function toTurnResult({ ok, text: said }: Extract<DemoEvent, { type: 'turn.ended' }>): TurnResult {
  const text = toOneLine(said)
  return ok ? { ok, text } : { ok, text, failure: { kind: 'other', text, resetAt: null, remedy: null } }
}

function toText(event: DemoEvent): string | null {
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

/** The events of the demo agent, one JSON object per line. */
export type DemoEvent =
  | { readonly type: 'thread.started'; readonly thread: string; readonly resumed: boolean }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'step'; readonly step: number; readonly of: number }
  | { readonly type: 'tool'; readonly tool: string; readonly gist: string; readonly path?: string }
  | { readonly type: 'approval.requested'; readonly question: string }
  | { readonly type: 'approval.answered'; readonly answer: string }
  /** `bytes` is the size of the process's output on stdout before this line, so that a reader notices any loss. */
  | { readonly type: 'turn.ended'; readonly ok: boolean; readonly text: string; readonly bytes: number }
