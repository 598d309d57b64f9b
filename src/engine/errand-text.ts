import type { Session } from '../core/session.ts'
import type { Task } from '../core/task.ts'
import type { Work } from '../ports/work.ts'
import { withoutNotes } from './without-notes.ts'

/** How much of what was said last a fresh thread is told. */
const LAST_WORDS = 6_000
/** It is told its tasks in short. */
const MOST_TASKS = 20
const LONGEST_TITLE = 120

/** What is told to a thread that knows nothing yet: what git shows of the work, and whether the project tracks its tasks. */
export interface Hints {
  readonly situation: string
  readonly isTracked: boolean
}

/** What the current attempt is given to read. */
export function errandText(session: Session, work: Work, hints: Hints): string {
  const { errand, spec } = session
  if (errand === null) return ''
  switch (errand.kind) {
    case 'message':
      return textOf(work.message(spec.id, errand.message))
    case 'continue':
      return goOn(session.attempt, errand.why)
    case 'digest':
      return digest(session, work, { why: errand.why, ...hints })
  }
}

/** The attempt's number makes it a sentence of its own, which the agent's record can be searched for. */
function goOn(attempt: number, why: string): string {
  return [
    `[oneshot, attempt ${attempt}] Your process ended before your work did: ${why}.`,
    'This is the same conversation. A command that was running at that moment may or may not have taken effect.',
    'Check what is already done, then continue the task until it is finished.',
  ].join(' ')
}

function digest(session: Session, work: Work, { why, situation, isTracked }: Hints & { why: string }): string {
  const { spec, attempt, messages, tasks } = session
  const read = messages.filter(message => message.confirmedAt !== null)
  const [prompt, ...later] = read.map(message => textOf(work.message(spec.id, message.id)).trim())
  const lastWords = withoutNotes(work.lastWords(spec.id, LAST_WORDS))
  return [
    `[oneshot, attempt ${attempt}] You take over work from another conversation, which cannot continue: ${why}.`,
    `The task:\n\n${prompt ?? ''}`,
    ...(later.length === 0 ? [] : [`Later messages of the user, in order:\n\n${later.join('\n\n')}`]),
    ...(situation === '' ? [] : [situation]),
    ...(tasks.length === 0 ? [] : [describeTasks(tasks)]),
    ...(isTracked ? ['The project keeps its tasks in beads: `bd ready --json` lists what is open.'] : []),
    ...(lastWords === '' ? [] : [`The end of the log so far:\n\n${lastWords}`]),
    'Look at the present state (the files, and git status, git log and git diff in a repository). Do not repeat finished work. Finish the task.',
  ].join('\n\n')
}

function describeTasks(tasks: readonly Task[]): string {
  const open = tasks.filter(({ state }) => state !== 'done').map(task => `- ${nameOf(task)}`)
  const done = tasks.filter(({ state }) => state === 'done').map(nameOf)
  const lines = [
    open.length === 0 ? 'No open tasks.' : 'Open tasks, in the planned order:',
    ...shortened(open),
    ...(done.length === 0 ? [] : [`Finished tasks: ${shortened(done).join('; ')}`]),
  ]
  return lines.join('\n')
}

function nameOf({ title, state }: Task): string {
  const name = title.length > LONGEST_TITLE ? `${title.slice(0, LONGEST_TITLE - 1)}…` : title
  return state === 'doing' ? `${name} (in progress)` : name
}

function shortened(names: readonly string[]): string[] {
  return names.length <= MOST_TASKS
    ? [...names]
    : [...names.slice(0, MOST_TASKS), `… and ${names.length - MOST_TASKS} more`]
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString()
}
