import type { LastWord } from '../../../core/session.ts'
import { NOTHING_SPENT, type Spending } from '../../../core/spending.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Memory, Observation, Reading } from '../../../ports/agent.ts'
import { amount, type Json, json, jsonInOutput, text } from '../json.ts'
import { failing, failure } from '../last-word.ts'
import { failed, noted, said } from '../telling.ts'
import { unknown } from '../unknown.ts'
import { failureOf } from './failure.ts'
import { readItem } from './items.ts'

/**
 * What a line of `codex exec --json` means. Remembered are the thread, what the model said last since it last called a
 * tool, and the last error: the end of a turn does not repeat them.
 */
export function read(line: string, memory: Memory, now: Instant): Reading {
  const event = jsonInOutput(line)
  if (event === null) return { observations: [], text: said(line) }
  const type = text(event['type'])
  switch (type) {
    case 'thread.started':
      return threaded(text(event['thread_id']), memory)
    case 'turn.started':
      return { observations: [{ type: 'began' }], text: null, memory: { ...memory, ...NEW_TURN } }
    case 'item.started':
    case 'item.updated':
    case 'item.completed':
      return readItem(type, json(event['item']), memory)
    case 'error':
      return trouble(text(event['message']), memory, now)
    case 'turn.completed':
      return completed(json(event['usage']), memory)
    case 'turn.failed':
      return broken(text(json(event['error'])['message']), memory, now)
    default:
      return unknown(type)
  }
}

const NEW_TURN: Memory = { said: '', error: '', answering: false, open: [] }

function threaded(thread: string, memory: Memory): Reading {
  if (thread === '') return { observations: [], text: null }
  return { observations: [{ type: 'threaded', thread }], text: null, memory: { ...memory, thread } }
}

/** Either it tries again by itself, or the turn is about to fail of it. */
function trouble(message: string, memory: Memory, now: Instant): Reading {
  const met = /^Reconnecting\W{1,20}(?:[\d/]+|waiting for network) \((.*)\)$/s.exec(message)?.[1]
  if (met === undefined && !message.startsWith('Reconnecting')) {
    return { observations: [], text: failed(failureOf(message, now).text), memory: { ...memory, error: keep(message) } }
  }
  return { observations: [{ type: 'retrying', failure: failureOf(met ?? message, now) }], text: noted(message) }
}

function completed(usage: Json, memory: Memory): Reading {
  const observations: Observation[] = [{ type: 'spent', scope: 'thread', spending: spendingOf(usage) }]
  const words = text(memory['said'])
  if (words !== '') return { observations: [...observations, finished({ ok: true, text: words })], text: null }
  const sentence = 'the turn ended without a closing word from the model'
  const word = failing(failure('empty', sentence))
  return { observations: [...observations, finished(word)], text: failed(sentence) }
}

function broken(message: string, memory: Memory, now: Instant): Reading {
  const why = failureOf(message, now)
  const isTold = memory['error'] === keep(message)
  return {
    observations: [finished(failing(why))],
    text: isTold ? null : failed(why.text),
  }
}

/** Servers may answer with whole pages. */
function keep(message: string): string {
  return message.slice(0, 2000)
}

function finished(word: LastWord): Observation {
  return { type: 'finished', word }
}

/** Tokens are summed up by codex over the whole thread; its answers are counted one by one, where they begin. */
function spendingOf(usage: Json): Spending {
  return {
    ...NOTHING_SPENT,
    input: amount(usage['input_tokens']),
    cached: amount(usage['cached_input_tokens']),
    output: amount(usage['output_tokens']),
  }
}
