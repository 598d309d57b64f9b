import type { LastWord } from '../../../core/session.ts'
import { oneLine } from '../../../lib/terminal-text.ts'
import { wordsIn } from '../content.ts'
import { list } from '../json.ts'
import { failing, failure } from '../last-word.ts'
import { failureOf } from './failure.ts'
import { messageIn, type PiMessage } from './message.ts'

/** How a run of pi ended, by its last answer. pi exits 0 whatever happened, so that only this tells. */
export function lastWordIn(messages: unknown): LastWord {
  const answer = list(messages)
    .map(messageIn)
    .findLast(message => message.role === 'assistant')
  return answer === undefined ? failing(failure('empty', 'pi ended its turn without an answer')) : wordIn(answer)
}

function wordIn({ stopReason, errorMessage, content, timestamp }: PiMessage): LastWord {
  const text = oneLine(wordsIn(content))
  if (stopReason === 'stop') return text === '' ? failing(failure('empty', 'the answer is empty')) : { ok: true, text }
  if (stopReason === 'error' && errorMessage !== '') return failing(failureOf(errorMessage, timestamp))
  return failing(failure('other', ENDINGS.get(stopReason) ?? `the answer ended with “${stopReason}”`))
}

const ENDINGS = new Map([
  ['error', 'the request to the model failed'],
  ['aborted', 'the turn was interrupted'],
  ['length', 'the answer was cut off at the length the model may write'],
  ['toolUse', 'the turn ended in the middle of using tools'],
])
