import { formatDuration } from '../../../lib/time.ts'
import type { Memory, Reading } from '../../../ports/agent.ts'
import { wordsIn } from '../content.ts'
import { amount, eventInOutput, json, type JsonEvent, text } from '../json.ts'
import { failed, noted, said } from '../telling.ts'
import { unknown } from '../unknown.ts'
import { failureOf } from './failure.ts'
import { lastWordIn } from './last-word.ts'
import { messageIn } from './message.ts'
import { spentIn } from './spending.ts'
import { toolEnded, toolStarted } from './tools.ts'

/** What a line of `pi --mode json` means. */
export function read(line: string, memory: Memory): Reading {
  const event = eventInOutput(line)
  if (event === null) return { observations: [], text: said(line) }
  if (SAYS_NOTHING_NEW.has(event.type)) return { observations: [], text: null }
  const reader = READERS.get(event.type)
  return reader === undefined ? unknown(event.type) : reader(event, memory)
}

const SAYS_NOTHING_NEW = new Set([
  'turn_start',
  'turn_end',
  'message_start',
  'message_update',
  'tool_execution_update',
  'auto_retry_end', // The end of the run it belongs to has told how it went.
  'agent_settled',
  'queue_update',
  'entry_appended',
  'session_info_changed',
  'thinking_level_changed',
  'summarization_retry_attempt_start',
  'summarization_retry_finished',
])

const READERS = new Map<string, (event: JsonEvent, memory: Memory) => Reading>([
  ['session', ({ id }) => ({ observations: [{ type: 'threaded', thread: text(id) }], text: null })],
  ['agent_start', runBegan],
  ['agent_end', runEnded],
  ['message_end', messageEnded],
  ['tool_execution_start', toolStarted],
  ['tool_execution_end', toolEnded],
  ['auto_retry_start', retrying],
  ['summarization_retry_scheduled', retryingToSumUp],
  ['compaction_start', compacting],
  ['compaction_end', compacted],
  ['extension_error', ({ error }) => ({ observations: [], text: failed(`an extension failed: ${text(error)}`) })],
])

/** pi ends its run with every failure, and begins another to try again: also after it has summed up the conversation. */
function runBegan(_event: JsonEvent, { hasEnded, ...memory }: Memory): Reading {
  return { observations: hasEnded === true ? [{ type: 'began' }] : [], text: null, memory }
}

function runEnded({ messages }: JsonEvent, memory: Memory): Reading {
  const word = lastWordIn(messages)
  return {
    observations: [{ type: 'finished', word }],
    text: word.ok ? null : failed(word.text),
    memory: { ...memory, hasEnded: true },
  }
}

function messageEnded({ message: value }: JsonEvent): Reading {
  const message = messageIn(value)
  if (QUIET_ROLES.has(message.role)) return { observations: [], text: null }
  if (message.role !== 'assistant') return unknown(`message_end/${message.role}`)
  return { observations: spentIn(message.usage), text: said(wordsIn(message.content)) }
}

/** What we gave it, what its tools gave back (told by their own events), and its notes to itself. */
const QUIET_ROLES = new Set([
  'user',
  'system',
  'toolResult',
  'custom',
  'bashExecution',
  'branchSummary',
  'compactionSummary',
])

function retrying(event: JsonEvent): Reading {
  const failure = failureOf(text(event['errorMessage']), null)
  return { observations: [{ type: 'retrying', failure }], text: noted(`pi tries again ${whenOf(event)}`) }
}

/** Summing up fails without a run of its own that would have told why. */
function retryingToSumUp(event: JsonEvent): Reading {
  const failure = failureOf(text(event['errorMessage']), null)
  const telling =
    failed(`summarising the conversation failed: ${failure.text}`) + noted(`pi tries again ${whenOf(event)}`)
  return { observations: [{ type: 'retrying', failure }], text: telling }
}

function whenOf({ attempt, maxAttempts, delayMs }: JsonEvent): string {
  return `in ${formatDuration(amount(delayMs))} (${amount(attempt)} of ${amount(maxAttempts)})`
}

function compacting({ reason }: JsonEvent): Reading {
  return { observations: [], text: noted(`the agent summarises the conversation (${text(reason)})`) }
}

function compacted({ errorMessage, result, aborted }: JsonEvent): Reading {
  const problem = text(errorMessage) || (aborted === true ? 'interrupted' : '')
  return {
    observations: spentIn(json(result)['usage']),
    text:
      problem === ''
        ? noted('the conversation was summarised')
        : failed(`summarising the conversation failed: ${problem}`),
  }
}
