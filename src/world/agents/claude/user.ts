import { type Json, json, jsons, text } from '../json.ts'
import { noted, said } from '../telling.ts'
import { inTurn, type Mind, nothing, type Seen, unknown, words } from './mind.ts'
import { callAnswered } from './tools.ts'

/** What is said to the model: what tools gave back, and the program's own notes. What people say is known already. */
export function toModel(event: Json, mind: Mind): Seen {
  const { content } = json(event['message'])
  if (typeof content === 'string') return note(content, mind)
  const isMain = typeof event['parent_tool_use_id'] !== 'string'
  return inTurn(jsons(content), (block, so) => tell(block, event, isMain, so), mind)
}

function tell(block: Json, event: Json, isMain: boolean, mind: Mind): Seen {
  const type = text(block['type'])
  if (type === 'tool_result') return callAnswered(block, event, isMain, mind)
  if (type === 'text') return isMain ? note(text(block['text']), mind) : nothing(mind)
  return MATERIAL.has(type) ? nothing(mind) : unknown(`user/${type}`, mind)
}

const MATERIAL = new Set(['image', 'document', 'file'])

function note(sentence: string, mind: Mind): Seen {
  const output = /^<local-command-std(?:out|err)>(.*)<\/local-command-std(?:out|err)>$/s.exec(sentence.trim())?.[1]
  if (output !== undefined) return words(said(output), { ...mind, hasSpoken: true })
  if (sentence.startsWith('[Request interrupted by user')) return words(noted('interrupted'), mind)
  return words(sentence.startsWith('Stop hook feedback:') ? noted(sentence) : null, mind)
}
