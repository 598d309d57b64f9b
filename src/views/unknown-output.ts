import { type Home, homeExists } from '../world/os/home.ts'
import { readAll } from '../world/store/read.ts'

/** A kind of output that an agent's adapter did not know. */
export interface UnknownOutput {
  readonly agent: string
  readonly what: string
  /** In how many sessions it was seen. */
  readonly sessions: number
}

/** Everything agents said that we did not understand, most frequent first. */
export function unknownOutput(home: Home): UnknownOutput[] {
  const counts = new Map<string, UnknownOutput>()
  for (const { spec, unknown } of homeExists(home) ? readAll(home) : []) {
    for (const what of unknown) {
      const key = `${spec.agent} ${what}`
      counts.set(key, { agent: spec.agent, what, sessions: (counts.get(key)?.sessions ?? 0) + 1 })
    }
  }
  return [...counts.values()].sort((a, b) => b.sessions - a.sessions)
}
