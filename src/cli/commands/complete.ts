import { loadChannels } from '../../api/config/channels.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import type { Home } from '../../state/home.ts'
import { findEnded, findLive } from '../../views/session-search.ts'
import { completionCandidates } from '../args/completion-candidates.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import type { Command, CommandContext } from '../context.ts'
import { textType } from '../args/value-types.ts'

/** The completion scripts call this command at each press of the tab key. */
export const command: Command = {
  name: '__complete',
  group: null,
  summary: 'answer a completion script',
  arguments: [{ valueType: textType('WORD'), summary: 'what was typed so far', isRepeated: true }],
  options: [],
  examples: [{ argv: ['__complete', '--', 'stop', 'fix'], description: 'sessions that begin with fix' }],
  run: complete,
}

/** Answers a shell. A press of the tab key must never print an error into the half-typed line. */
async function complete(args: ParsedArgs, { screen, home, env, commands }: CommandContext): Promise<number> {
  try {
    const entries = args.positionals.includes('notify') ? await loadChannels(env) : []
    const channels = entries.map(({ name, type }) => `${name}\t${type}`)
    const known = { commands, sessions: (typed: string) => findCandidates(home, typed), channels }
    for (const text of await completionCandidates(args.positionals, known)) screen.out.printLine(text)
  } catch {
    return 1
  }
  return 0
}

/** A person chooses from no more ended sessions than these. */
const MAX_ENDED = 100

function findCandidates(home: Home, typed: string): SessionView[] {
  const filter = { prefix: { text: typed, withIds: false } }
  return [...findLive(home, filter), ...findEnded(home, filter, { limit: MAX_ENDED })]
}
