import { wordsIn } from '../content.ts'
import { amount, type Json, json, jsons, text } from '../json.ts'
import { failed, returned, said } from '../telling.ts'
import { begin, inTurn, type Mind, nothing, type Seen, unknown, words } from './mind.ts'
import { countAnswer, spent } from './spending.ts'
import { callMade, serverAnswered } from './tools.ts'
import { UNHEARD } from './turn-ended.ts'

/** An answer of the model, block by block; or what the program says in its place. */
export function answer(event: Json, mind: Mind): Seen {
  const message = json(event['message'])
  const isMain = typeof event['parent_tool_use_id'] !== 'string'
  if (message['model'] === '<synthetic>') return madeUp(event, wordsIn(message['content']), isMain, mind)
  const begun = isMain ? begin(mind) : nothing(mind)
  const counted = countAnswer(message, isMain, begun.mind)
  const told = inTurn(jsons(message['content']), (block, so) => tell(block, isMain, so), counted)
  const spending = counted === begun.mind ? [] : [spent(counted)]
  return { ...told, observations: [...begun.observations, ...spending, ...told.observations] }
}

function tell(block: Json, isMain: boolean, mind: Mind): Seen {
  const type = text(block['type'])
  if (type === 'text') return speak(text(block['text']), isMain, mind)
  if (CALLS.has(type)) return callMade(block, isMain, mind)
  if (THOUGHTS.has(type)) return nothing(mind)
  return type.endsWith('_tool_result') ? serverAnswered(block, mind) : unknown(`assistant/${type}`, mind)
}

const CALLS = new Set(['tool_use', 'server_tool_use', 'mcp_tool_use'])
const THOUGHTS = new Set(['thinking', 'redacted_thinking'])

function speak(sentence: string, isMain: boolean, mind: Mind): Seen {
  if (!isMain) return words(returned(sentence), mind)
  const telling = said(sentence)
  return words(telling, telling === null || mind.hasSpoken ? mind : { ...mind, hasSpoken: true })
}

/** A failure, or what a command of the program's own puts out. */
function madeUp(event: Json, sentence: string, isMain: boolean, mind: Mind): Seen {
  const error = text(event['error'])
  if (!isMain) return words(returned(sentence, error !== ''), mind)
  if (error === '') return isNews(sentence) ? speak(sentence, true, mind) : nothing(mind)
  const limit = json(json(event['api_error_params'])['rate_limit_info'])
  const resetAt = amount(limit['resetsAt']) * 1000 || mind.resetAt
  return words(failed(sentence), { ...mind, trouble: error, resetAt })
}

/** That a command is not known is told by the end of the turn. */
function isNews(sentence: string): boolean {
  return sentence !== '(no content)' && !UNHEARD.test(sentence)
}
