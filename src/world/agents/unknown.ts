import { oneLine } from '../../lib/terminal-text.ts'
import type { Reading } from '../../ports/agent.ts'

/** Something that a later version says: told by its name, so that somebody may teach us. */
export function unknown(what: string): Reading {
  const name = what === '' ? 'an event without a type' : oneLine(what).slice(0, 80)
  return { observations: [{ type: 'unknown', what: name }], text: null }
}
