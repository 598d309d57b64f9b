import type { Memory, Reading } from '../../../ports/agent.ts'
import { amount, eventInOutput, type Json, type JsonEvent, json } from '../json.ts'
import { said } from '../telling.ts'
import { answer } from './answer.ts'
import { type Mind, nothing, recall, type Seen, unknown } from './mind.ts'
import { QUIET_TYPES } from './quiet.ts'
import { system } from './system.ts'
import { turnEnded } from './turn-ended.ts'
import { toModel } from './user.ts'

/** What a line of `claude -p --output-format stream-json` means. */
export function read(line: string, memory: Memory): Reading {
  const event = eventInOutput(line)
  if (event === null) return { observations: [], text: said(line) }
  const mind = recall(memory)
  const { observations, text, mind: kept } = see(event, mind)
  return { observations, text, ...(kept !== mind && { memory: kept }) }
}

function see(event: JsonEvent, mind: Mind): Seen {
  const reader = READERS.get(event.type)
  if (reader !== undefined) return reader(event, mind)
  return QUIET_TYPES.has(event.type) ? nothing(mind) : unknown(event.type, mind)
}

const READERS = new Map<string, (event: Json, mind: Mind) => Seen>([
  ['system', system],
  ['assistant', answer],
  ['user', toModel],
  ['result', turnEnded],
  ['rate_limit_event', limited],
])

/** Told whenever the state of a subscription's limits changes, mostly for the better; in seconds since 1970. */
function limited(event: Json, mind: Mind): Seen {
  const { status, resetsAt } = json(event['rate_limit_info'])
  const resetAt = status === 'rejected' ? amount(resetsAt) * 1000 || null : null
  return nothing({ ...mind, resetAt })
}
