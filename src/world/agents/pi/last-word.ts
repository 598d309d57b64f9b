import type { FailureKind } from '../../../core/failure.ts'
import type { LastWord } from '../../../core/session.ts'
import { oneLine } from '../../../lib/terminal-text.ts'
import { messageIn, type PiMessage, textIn } from './events.ts'
import { failureOf } from './failure.ts'

/** How a run of pi ended, by its last answer. pi exits 0 whatever happened, so that only this tells. */
export function lastWordIn(messages: unknown): LastWord {
  const all = Array.isArray(messages) ? messages.map(messageIn) : []
  const answer = all.findLast(message => message.role === 'assistant')
  return answer === undefined ? failed('empty', 'pi ended its turn without an answer') : wordIn(answer)
}

function wordIn({ stopReason, errorMessage, content, timestamp }: PiMessage): LastWord {
  const text = oneLine(textIn(content))
  if (stopReason === 'stop') return text === '' ? failed('empty', 'the answer is empty') : { ok: true, text }
  if (stopReason === 'error' && errorMessage !== '') {
    const failure = failureOf(errorMessage, timestamp)
    return { ok: false, text: failure.text, failure }
  }
  return failed('other', oneLine(ENDINGS[stopReason] ?? `the answer ended with “${stopReason}”`))
}

const ENDINGS: Record<string, string> = {
  error: 'the request to the model failed',
  aborted: 'the turn was broken off',
  length: 'the answer was cut off at the length the model may write',
  toolUse: 'the turn ended in the middle of using tools',
}

function failed(kind: FailureKind, text: string): LastWord {
  return { ok: false, text, failure: { kind, text, resetAt: null, remedy: null } }
}
