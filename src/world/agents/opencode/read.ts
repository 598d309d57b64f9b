import type { LastWord } from '../../../core/session.ts'
import { oneLine } from '../../../lib/terminal-text.ts'
import type { Memory, Observation, Reading } from '../../../ports/agent.ts'
import { amount, type Json, json, jsonInOutput, text } from '../json.ts'
import { brief, failing, failure } from '../last-word.ts'
import { failed, noted, said } from '../telling.ts'
import { unknown } from '../unknown.ts'
import { failureOf } from './failure.ts'
import { readTool } from './tools.ts'

/**
 * What a line of `opencode run --format json` means. There is no event for the end: the turn is over when the process
 * is, and its word is that of the last step. Remembered are the thread, the step that is under way, what the model said
 * and which tool was refused in it, the last error, and whether a word was given.
 */
export function read(line: string, memory: Memory): Reading {
  const event = jsonInOutput(line)
  if (event === null) return { observations: [], text: said(line) }
  const thread = text(event['sessionID'])
  if (thread === '' || thread === memory['thread']) return meaning(event, memory)
  const reading = meaning(event, { ...memory, thread })
  const observations: Observation[] = [{ type: 'threaded', thread }, ...reading.observations]
  return { observations, text: reading.text, memory: { ...memory, thread, ...reading.memory } }
}

function meaning(event: Json, memory: Memory): Reading {
  const part = json(event['part'])
  const type = text(event['type'])
  switch (type) {
    case 'step_start':
      return begun(text(part['messageID']), memory)
    case 'text':
      return spoken(part, memory)
    case 'reasoning':
      return { observations: [], text: null }
    case 'tool_use':
      return readTool(part, memory)
    case 'step_finish':
      return stepped(part, memory)
    case 'error':
      return broken(json(event['error']), amount(event['timestamp']), memory)
    default:
      return unknown(type)
  }
}

/** opencode 1.18.33: a step that begins again without having ended is all that shows of an answer that broke off. */
function begun(message: string, memory: Memory): Reading {
  const { observations, memory: next } = goingOn(memory)
  const isAgain = message !== '' && memory['step'] === message
  const retrying: Observation = { type: 'retrying', failure: failure('network', BROKEN_OFF) }
  return {
    observations: isAgain ? [...observations, retrying] : observations,
    text: isAgain ? noted(BROKEN_OFF) : null,
    memory: { ...next, step: message },
  }
}

const BROKEN_OFF = 'the answer of the model was cut off; opencode asks again'

/** A word that was given was not the last one after all. */
function goingOn(memory: Memory): Pick<Reading, 'observations'> & { memory: Memory } {
  const observations: Observation[] = memory['hasWord'] === true ? [{ type: 'began' }] : []
  return { observations, memory: { ...memory, said: '', refused: '', hasWord: false } }
}

/** opencode 1.18.33: compacting ends with a step that looks like an answer, then opencode itself asks to go on. */
function spoken(part: Json, memory: Memory): Reading {
  if (part['synthetic'] === true) return { ...goingOn(memory), text: noted('the conversation was shortened') }
  const words = text(part['text'])
  const line = oneLine(words)
  return { observations: [], text: said(words), memory: line === '' ? memory : { ...memory, said: brief(line) } }
}

function stepped(part: Json, memory: Memory): Reading {
  const spent: Observation = { type: 'spent', scope: 'step', spending: spendingOf(part) }
  const word = wordOf(text(part['reason']), memory)
  if (word === null) return { observations: [spent], text: null, memory: { ...memory, step: '' } }
  return {
    observations: [spent, { type: 'finished', word }],
    text: word.ok ? null : failed(word.text),
    memory: { ...memory, step: '', hasWord: true },
  }
}

/**
 * After tools another step follows, so that there is no word yet. Not so after a refusal: opencode 1.18.33 then ends,
 * with status 0.
 */
function wordOf(reason: string, memory: Memory): LastWord | null {
  const refused = text(memory['refused'])
  const words = text(memory['said'])
  if (refused !== '')
    return failing(failure('denied', `opencode was refused ${refused}`, 'give the session more autonomy'))
  if (reason === 'tool-calls') return null
  if (reason !== 'stop')
    return failing(failure('other', `the model broke off its answer: ${reason === '' ? 'no reason given' : reason}`))
  return words === ''
    ? failing(failure('empty', 'the turn ended without a closing word from the model'))
    : { ok: true, text: words }
}

function broken(error: Json, at: number, memory: Memory): Reading {
  const why = failureOf(error, at)
  const isTold = memory['error'] === brief(why.text)
  return {
    observations: [{ type: 'finished', word: failing(why) }],
    text: isTold ? null : failed(why.text),
    memory: { ...memory, error: brief(why.text), hasWord: true },
  }
}

/** Subagents’ steps are not told, and so not counted. */
function spendingOf(part: Json): Extract<Observation, { type: 'spent' }>['spending'] {
  const tokens = json(part['tokens'])
  const cache = json(tokens['cache'])
  const cached = amount(cache['read'])
  return {
    input: amount(tokens['input']) + cached + amount(cache['write']),
    cached,
    output: amount(tokens['output']) + amount(tokens['reasoning']),
    usd: typeof part['cost'] === 'number' ? part['cost'] : null,
    turns: 1,
  }
}
