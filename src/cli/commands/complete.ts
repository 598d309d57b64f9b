import { loadChannels } from '../../api/config/channels.ts'
import { readSessions } from '../../views/sessions.ts'
import { completionCandidates } from '../args/completion-candidates.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import type { CommandContext } from '../context.ts'

/** Answers a shell. A press of the tab key must never print an error into the half-typed line. */
export async function complete(args: ParsedArgs, { screen, home, env }: CommandContext): Promise<number> {
  try {
    const entries = args.positionals.includes('notify') ? await loadChannels(env) : []
    const channels = entries.map(({ name, type }) => `${name}\t${type}`)
    for (const text of completionCandidates(args.positionals, () => readSessions(home), channels))
      screen.out.printLine(text)
  } catch {
    return 1
  }
  return 0
}
