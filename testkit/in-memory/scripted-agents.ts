import type { FailureKind } from '../../src/core/session/failure.ts'
import type { TurnResult } from '../../src/core/session/attempt.ts'
import type { Issue } from '../../src/core/session/tasks-and-tracker-issues.ts'
import { invariant } from '../../src/lib/errors.ts'
import type { Agent, Observation } from '../../src/ports/agent.ts'

/** Maps each thread to all user messages in it, as the agents on a machine record them. */
export type Records = Map<string, string[]>

/** An agent that writes lines like `thread: t-1` and must end its turn; all its other lines are text to show. */
const talkingAgent: Agent = {
  kind: 'talker',
  proof: 'end-event',
  defaultMode: 'headless',
  modes: ['headless', 'tty'],
  silence: 600_000,
  takesPrompt: true,
  program: ['talker'],
  planLaunch: ({ argv, resume }) => ({
    argv: resume === null ? argv : [...argv, '--resume', resume],
    env: {},
    stdin: 'text',
  }),
  readLine: line => {
    const word = line.replace(/\r$/, '') // A terminal adds a carriage return.
    invariant(word !== 'riddle', 'it speaks in riddles')
    return { observations: toObservations(word), text: `${word}\n` }
  },
}

/** Returns a talking agent that also keeps a record of its threads and lets the caller choose their ids. */
function recordingAgent(records: Records): Agent {
  return {
    ...talkingAgent,
    kind: 'scribe',
    program: ['scribe'],
    planLaunch: ({ argv, resume, tag }) => ({
      argv: [...argv, ...(resume === null ? ['--thread', tag] : ['--resume', resume])],
      env: {},
      stdin: 'text',
    }),
    findThread: ({ thread, tag }) => {
      const messages = records.get(thread ?? tag)
      return messages === undefined ? null : { thread: thread ?? tag, messages }
    },
  }
}

/** An agent whose exit code is its result. */
const exitCodeAgent: Agent = {
  kind: 'mute',
  proof: 'exit-code',
  defaultMode: 'headless',
  modes: ['headless', 'tty'],
  silence: null,
  takesPrompt: false,
  program: ['mute'],
  planLaunch: ({ argv }) => ({ argv, env: {}, stdin: 'none' }),
}

export function scriptedAgents(records: Records = new Map()): (kind: string) => Agent {
  const agents = [talkingAgent, recordingAgent(records), exitCodeAgent]
  return kind => {
    const agent = agents.find(known => known.kind === kind)
    invariant(agent !== undefined, `no scripted agent is called ${kind}`)
    return agent
  }
}

function toObservations(line: string): Observation[] {
  const [, word, rest = ''] = /^(\w+): ?(.*)$/.exec(line) ?? []
  switch (word) {
    case 'thread':
      return [{ type: 'threaded', thread: rest }]
    case 'ask':
      return [{ type: 'asked', question: rest }]
    case 'answer':
      return [{ type: 'answered' }]
    case 'done':
      return [{ type: 'finished', word: { ok: true, text: rest } }]
    case 'failed':
      return [{ type: 'finished', word: failedResult('other', rest) }]
    case 'limit':
      return [{ type: 'finished', word: failedResult('rate-limit', 'limit reached', Number(rest)) }]
    case 'login':
      return [{ type: 'finished', word: failedResult('login', rest) }]
    case 'full':
      return [{ type: 'finished', word: failedResult('context', rest) }]
    case 'lost':
      return [{ type: 'finished', word: failedResult('thread-lost', rest) }]
    case 'offline':
      return [{ type: 'finished', word: failedResult('network', rest) }]
    case 'plan':
      return [{ type: 'planned', tasks: rest.split('; ').map(parseTask) }]
    case 'tool':
      return [{ type: 'tool-started', id: rest, tool: 'tool', summary: rest }]
    case 'edited':
      return [{ type: 'edited', path: rest }]
    case 'spent':
      return [
        { type: 'spent', scope: 'step', spending: { input: 0, cached: 0, output: 0, usd: Number(rest), turns: 1 } },
      ]
    default:
      return []
  }
}

/** Parses a text like `1 done write tests`. */
function parseTask(text: string): Issue {
  const [id = '', state, ...title] = text.split(' ')
  return { id, title: title.join(' '), state: state as Issue['state'] }
}

function failedResult(kind: FailureKind, text: string, resetAt: number | null = null): TurnResult {
  return { ok: false, text, failure: { kind, text, resetAt, remedy: null } }
}
