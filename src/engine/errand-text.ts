import type { Session } from '../core/session.ts'
import type { Work } from '../ports/work.ts'

/** How much of what was said last a fresh thread is told. */
const LAST_WORDS = 6_000

/** What the current attempt is given to read. `situation` is what git shows, for a thread that knows nothing yet. */
export function errandText(session: Session, work: Work, situation = ''): string {
  const { errand, spec } = session
  if (errand === null) return ''
  switch (errand.kind) {
    case 'message':
      return textOf(work.message(spec.id, errand.message))
    case 'continue':
      return goOn(session.attempt, errand.why)
    case 'digest':
      return digest(session, work, { why: errand.why, situation })
  }
}

/** The attempt's number makes it a sentence of its own, which the agent's record can be searched for. */
function goOn(attempt: number, why: string): string {
  return [
    `[oneshot, attempt ${attempt}] Your process ended before your work did: ${why}.`,
    'This is the same conversation. A command that was running then may or may not have taken effect.',
    'Check what is already done, then go on with the task until it is finished.',
  ].join(' ')
}

function digest(session: Session, work: Work, { why, situation }: { why: string; situation: string }): string {
  const { spec, attempt, messages } = session
  const read = messages.filter(message => message.confirmedAt !== null)
  const [prompt, ...later] = read.map(message => textOf(work.message(spec.id, message.id)).trim())
  const lastWords = withoutNotes(work.lastWords(spec.id, LAST_WORDS))
  return [
    `[oneshot, attempt ${attempt}] You take over work that was begun in another conversation, which cannot be gone on with: ${why}.`,
    `The task:\n\n${prompt ?? ''}`,
    ...(later.length === 0 ? [] : [`What was asked for since then, in order:\n\n${later.join('\n\n')}`]),
    ...(situation === '' ? [] : [situation]),
    ...(lastWords === '' ? [] : [`The end of what was said and done so far:\n\n${lastWords}`]),
    'Look at what is already there (files, and git status, git log and git diff where there is a repository), do not do again what is done, and finish the task.',
  ].join('\n\n')
}

/** What the agent said and did; what we noted between its words is of no use to it. */
function withoutNotes(transcript: string): string {
  const lines = transcript.split('\n').filter(line => !line.startsWith('── '))
  return lines.join('\n').trim()
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString()
}
