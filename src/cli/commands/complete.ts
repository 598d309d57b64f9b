import { loadChannels } from '../../api/config/channels.ts'
import { readSessions } from '../../views/sessions.ts'
import { complete as candidates } from '../completion/complete.ts'
import type { Line } from '../line/line.ts'
import type { Surroundings } from '../surroundings.ts'

/** Answers a shell. Whatever goes wrong, a press of the tab key must not print an error into the line being typed. */
export async function complete(line: Line, { screen, home, env }: Surroundings): Promise<number> {
  try {
    const entries = line.words.includes('notify') ? await loadChannels(env) : []
    const channels = entries.map(({ name, type }) => `${name}\t${type}`)
    for (const text of candidates(line.words, () => readSessions(home), channels)) screen.out.say(text)
  } catch {
    return 1
  }
  return 0
}
