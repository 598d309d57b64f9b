import { invariant } from '../../lib/trouble.ts'
import type { Agent, Observation } from '../../ports/agent.ts'

/** An agent that speaks in lines like `thread: t-1` and must end its turn; everything else it says is shown. */
const talker: Agent = {
  kind: 'talker',
  proof: 'end-event',
  defaultMode: 'headless',
  takesPrompt: true,
  program: ['talker'],
  plan: ({ argv, resume }) => ({
    argv: resume === null ? argv : [...argv, '--resume', resume],
    env: {},
    stdin: resume === null ? 'prompt' : { text: 'go on' },
  }),
  read: line => {
    const word = line.replace(/\r$/, '') // On a terminal.
    invariant(word !== 'riddle', 'it speaks in riddles')
    return { observations: meaning(word), text: `${word}\n` }
  },
}

/** A program whose exit code is its answer. */
const mute: Agent = {
  kind: 'mute',
  proof: 'exit-code',
  defaultMode: 'headless',
  takesPrompt: false,
  program: ['mute'],
  plan: ({ argv }) => ({ argv, env: {}, stdin: 'none' }),
}

export function scriptedAgents(kind: string): Agent {
  const agent = [talker, mute].find(known => known.kind === kind)
  invariant(agent !== undefined, `no scripted agent is called ${kind}`)
  return agent
}

function meaning(line: string): Observation[] {
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
      return [{ type: 'finished', word: { ok: false, text: rest } }]
    default:
      return []
  }
}
