import type { Failure } from '../../../core/failure.ts'
import type { LastWord } from '../../../core/session.ts'
import { oneLine } from '../../../lib/terminal-text.ts'
import { type Json, json, jsons, list, text } from '../json.ts'
import { failing, failure } from '../last-word.ts'
import { failed, gistOf, noted, said } from '../telling.ts'
import { failureOf } from './failure.ts'
import { type Mind, nothing, type Seen, wordOf } from './mind.ts'
import { settle, spent } from './spending.ts'
import type { Trouble } from './trouble.ts'

/** The end of a turn. An exit code of 0 proves nothing, and neither does the subtype `success`: failed requests have it too. */
export function turnEnded(result: Json, before: Mind): Seen {
  if (isNoTurn(result)) return asBefore(before)
  const mind = settle(result, before)
  const spending = spent(mind)
  const after = { ...mind, hasEnded: true, trouble: '' }
  if (isInterrupted(result)) return { observations: [spending], text: null, mind: after }
  const word = wordIn(result, mind)
  const telling = textFor(word, result, mind)
  const kept = { ...after, word: JSON.stringify(word) }
  const { length } = mind.tasks
  if (length === 0) return { observations: [spending, { type: 'finished', word }], text: telling, mind: kept }
  const waiting = noted(`waiting for ${length === 1 ? 'a background task' : `${length} background tasks`}`)
  return { observations: [spending], text: (telling ?? '') + waiting, mind: { ...kept, isHeld: true } }
}

/** That a task ended with the process before this one is written down for the model, and reported like a turn. */
function isNoTurn(result: Json): boolean {
  const isNote = json(result['origin'])['kind'] === 'task-notification'
  return isNote && result['num_turns'] === 0 && result['is_error'] !== true && text(result['result']) === ''
}

function asBefore(mind: Mind): Seen {
  const word = wordOf(mind)
  return word === null ? nothing(mind) : { observations: [{ type: 'finished', word }], text: null, mind }
}

/** Broken off from outside, the turn is not over: it counts as if the program had died in it, as 2.1.197 often does. */
function isInterrupted(result: Json): boolean {
  return text(result['terminal_reason']).startsWith('aborted_') || result['interrupted_by_shutdown'] === true
}

function wordIn(result: Json, mind: Mind): LastWord {
  const why = failureIn(result, mind)
  if (why !== null) return failing(why)
  return { ok: true, text: oneLine(text(result['result'])) || 'the command was carried out' }
}

/** What was told in place of an answer, or as the last of them, is not told again. */
function textFor(word: LastWord, result: Json, mind: Mind): string | null {
  if (!word.ok && mind.trouble !== '') return null
  if (!word.ok) return failed(word.failure.kind === 'denied' ? `it was not allowed: ${word.text}` : word.text)
  return mind.hasSpoken ? null : said(text(result['result']))
}

function failureIn(result: Json, mind: Mind): Failure | null {
  const words = text(result['result']) || errorsIn(result)
  const subtype = text(result['subtype'])
  if (/^error_max_(?:turns|budget_usd)$/.test(subtype)) return failure('budget', words)
  if (result['is_error'] !== true && subtype === 'success') return hollow(result, mind, words)
  return LOST.test(words) ? failure('thread-lost', words) : failureOf(troubleIn(result, mind, words))
}

export const LOST = /No conversation found with session ID|--resume requires a valid session ID/

function errorsIn({ errors }: Json): string {
  const told = list(errors)
    .map(text)
    .filter(error => !error.startsWith('[ede_diagnostic]'))
  return told.join('; ') || 'it ended its turn with an error and said no more'
}

function troubleIn(result: Json, mind: Mind, words: string): Trouble {
  const status = result['api_error_status']
  return {
    error: mind.trouble,
    code: text(result['api_error']),
    status: typeof status === 'number' ? status : null,
    reason: text(result['terminal_reason']),
    words,
    resetAt: mind.resetAt,
  }
}

/** A success that is none. */
function hollow(result: Json, mind: Mind, words: string): Failure | null {
  const denied = jsons(result['permission_denials']).filter(
    ({ tool_use_id }) => !mind.hooked.includes(text(tool_use_id)),
  )
  if (denied.length > 0) return failure('denied', gistOfDenied(denied), MORE_AUTONOMY)
  if (result['num_turns'] === 0 && UNHEARD.test(words)) return failure('setup', words)
  // A command of the program's own need not say anything.
  const isCommand = result['num_turns'] === 0 && (mind.hasSpoken || text(result['local_command']) !== '')
  if (text(result['result']).trim() === '' && !isCommand) return failure('empty', 'its last answer is empty')
  return null
}

const MORE_AUTONOMY = 'give it more autonomy with --autonomy, or allow the tool in its own settings'

/** The model was never asked. 2.1.197: an unknown `/word`; both: a hook of the user's own. */
export const UNHEARD = /^Unknown (?:slash )?(?:command|skill):|^UserPromptSubmit operation blocked/

function gistOfDenied(denied: readonly Json[]): string {
  const [first = {}] = denied
  const more = denied.length === 1 ? '' : ` and ${denied.length - 1} more`
  return `${text(first['tool_name'])} ${gistOf(first['tool_input'])}`.trim() + more
}
