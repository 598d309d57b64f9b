import { endsOf } from '../../../lib/ends-of.ts'
import { formatDuration } from '../../../lib/time.ts'
import { amount, type Json, json, text } from '../json.ts'
import { failed, noted } from '../telling.ts'
import { failureOf } from './failure.ts'
import { begin, type Mind, nothing, type Seen, unknown, words } from './mind.ts'
import { QUIET_SUBTYPES } from './quiet.ts'
import { tasksListed, taskEnded, taskStarted, taskUpdated } from './tasks.ts'
import { UNHEARD } from './turn-ended.ts'

/** What the program tells of itself. */
export function system(event: Json, mind: Mind): Seen {
  const subtype = text(event['subtype'])
  const reader = READERS.get(subtype)
  if (reader !== undefined) return reader(event, mind)
  return QUIET_SUBTYPES.has(subtype) ? nothing(mind) : unknown(`system/${subtype}`, mind)
}

const READERS = new Map<string, (event: Json, mind: Mind) => Seen>([
  ['init', started],
  ['api_retry', retrying],
  ['permission_denied', ({ tool_name }, mind) => words(failed(`${text(tool_name)} was not allowed`), mind)],
  ['task_started', taskStarted],
  ['task_updated', taskUpdated],
  ['task_notification', taskEnded],
  ['background_tasks_changed', tasksListed],
  ['compact_boundary', compacted],
  ['informational', informed],
  ['notification', notified],
  ['model_fallback', fellBack],
  ['model_refusal_fallback', fellBack],
  ['model_consent_fallback', fellBack],
  ['session_writes_lost', writesLost],
])

/** Comes at the beginning of every turn. */
function started(event: Json, mind: Mind): Seen {
  const begun = begin(mind)
  const thread = text(event['session_id'])
  const isFirst = mind.cwd === ''
  return {
    observations: [...begun.observations, ...(thread === '' ? [] : [{ type: 'threaded' as const, thread }])],
    text: isFirst ? noted(`claude ${text(event['claude_code_version'])}, ${text(event['model'])}`) : null,
    mind: { ...begun.mind, cwd: text(event['cwd']) },
  }
}

function retrying(event: Json, mind: Mind): Seen {
  const status = event['error_status']
  const error = text(event['error'])
  const trouble = { error, status: typeof status === 'number' ? status : null, words: '' }
  const why = trouble.status === null ? 'the connection failed' : `${trouble.status} ${error.replaceAll('_', ' ')}`
  const failure = { ...failureOf(trouble), text: why, remedy: null }
  const when = `in ${formatDuration(amount(event['retry_delay_ms']))}`
  const count = `${amount(event['attempt'])} of ${amount(event['max_retries'])}`
  return {
    observations: [{ type: 'retrying', failure }],
    text: noted(`${why}; claude tries again ${when} (${count})`),
    mind,
  }
}

function compacted(event: Json, mind: Mind): Seen {
  const { pre_tokens, post_tokens } = json(event['compact_metadata'])
  const size = amount(post_tokens) === 0 ? '' : `: ${amount(pre_tokens)} tokens became ${amount(post_tokens)}`
  return words(noted(`the conversation was summarised${size}`), mind)
}

function informed({ level, content }: Json, mind: Mind): Seen {
  if (UNHEARD.test(text(content))) return nothing(mind) // The end of the turn tells it.
  return words(level === 'warning' || level === 'notice' ? told(content) : null, mind)
}

function notified({ priority, text: sentence }: Json, mind: Mind): Seen {
  return words(priority === 'high' || priority === 'immediate' ? told(sentence) : null, mind)
}

/** To another model. */
function fellBack({ content }: Json, mind: Mind): Seen {
  return words(told(content), mind)
}

function writesLost({ error_code }: Json, mind: Mind): Seen {
  return words(failed(`it could not save all of its conversation: ${text(error_code)}`), mind)
}

/** As much of each end as a sentence may have. */
const SENTENCE = 2_048

function told(content: unknown): string | null {
  const sentence = endsOf(text(content), SENTENCE).replace(/ · ctrl\+.*/s, '')
  return sentence === '' ? null : noted(sentence)
}
