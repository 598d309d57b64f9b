import type { Session } from '../core/session/session-state.ts'
import type { Task } from '../core/session/tasks-and-tracker-issues.ts'
import type { SessionFiles } from '../ports/runtime.ts'
import { stripTranscriptNotes } from '../core/describe/transcript-notes.ts'
import { type CheckpointReader, checkpointTargetOf } from '../ports/checkpoints.ts'

/** Characters of the last output that a fresh thread receives. */
const MAX_LOG_LENGTH = 6_000
/** Tasks that a fresh thread receives in each list. */
const MAX_TASKS = 20
const MAX_TITLE_LENGTH = 120

/** Facts for a thread without any context: git's summary of the work, and the presence of a task tracker. */
export interface TakeoverHints {
  readonly situation: string
  readonly isTracked: boolean
}

/** Returns the text that the current attempt receives. */
export function turnInputText(session: Session, runtime: SessionFiles, hints: TakeoverHints): string {
  const { spec } = session
  const { input } = session.attempt
  if (input === null) return ''
  switch (input.kind) {
    case 'message':
      return decodeText(runtime.readMessage(spec.id, input.message))
    case 'continue':
      return continueText(session.attempt.number, input.why)
    case 'digest':
      return digestText(session, runtime, { why: input.why, ...hints })
  }
}

/** The attempt number makes the text unique, so that a search of the agent's record can find it. */
function continueText(attempt: number, why: string): string {
  return [
    `[oneshot, attempt ${attempt}] Your process ended before your work did: ${why}.`,
    'This is the same conversation. A command that was running at that moment may or may not have taken effect.',
    'Check what is already done, then continue the task until it is finished.',
  ].join(' ')
}

function digestText(
  session: Session,
  runtime: SessionFiles,
  { why, situation, isTracked }: TakeoverHints & { why: string },
): string {
  const { spec, messages, tasks } = session
  const { number: attempt } = session.attempt
  const read = messages.filter(message => message.confirmedAt !== null)
  const [prompt, ...later] = read.map(message => decodeText(runtime.readMessage(spec.id, message.id)).trim())
  const finalOutput = stripTranscriptNotes(runtime.transcriptTail(spec.id, MAX_LOG_LENGTH))
  return [
    `[oneshot, attempt ${attempt}] You take over work from another conversation, which cannot continue: ${why}.`,
    `The task:\n\n${prompt ?? ''}`,
    ...(later.length === 0 ? [] : [`Later messages of the user, in order:\n\n${later.join('\n\n')}`]),
    ...(situation === '' ? [] : [situation]),
    ...(tasks.length === 0 ? [] : [describeTasks(tasks)]),
    ...(isTracked ? ['The project keeps its tasks in beads: `bd ready --json` lists what is open.'] : []),
    ...(finalOutput === '' ? [] : [`The end of the log so far:\n\n${finalOutput}`]),
    'Look at the present state (the files, and git status, git log and git diff in a repository). Do not repeat finished work. Finish the task.',
  ].join('\n\n')
}

function describeTasks(tasks: readonly Task[]): string {
  const open = tasks.filter(({ state }) => state !== 'done').map(task => `- ${taskName(task)}`)
  const done = tasks.filter(({ state }) => state === 'done').map(taskName)
  const lines = [
    open.length === 0 ? 'No open tasks.' : 'Open tasks, in the planned order:',
    ...limitNames(open),
    ...(done.length === 0 ? [] : [`Finished tasks: ${limitNames(done).join('; ')}`]),
  ]
  return lines.join('\n')
}

function taskName({ title, state }: Task): string {
  const name = title.length > MAX_TITLE_LENGTH ? `${title.slice(0, MAX_TITLE_LENGTH - 1)}…` : title
  return state === 'doing' ? `${name} (in progress)` : name
}

function limitNames(names: readonly string[]): string[] {
  return names.length <= MAX_TASKS
    ? [...names]
    : [...names.slice(0, MAX_TASKS), `… and ${names.length - MAX_TASKS} more`]
}

function decodeText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString()
}

const MAX_COMMITS = 20
/** Changed files in the summary; more files say little. */
const MAX_LINES = 60

/** Returns git's summary of a session's work for the thread that takes it over; empty when git shows nothing. */
export async function gitSummary({ spec }: Session, checkpoints: CheckpointReader): Promise<string> {
  if (spec.supervision.saving.mode === 'off' || !checkpoints.isRepository(spec.cwd)) return ''
  const target = checkpointTargetOf(spec)
  const all = await checkpoints.list(target)
  const [first] = all
  const last = all.at(-1)
  if (first === undefined || last === undefined) return ''
  const commits = first.head === null ? [] : await checkpoints.commitSubjects(spec.cwd, first.head, MAX_COMMITS)
  const stat = first === last ? '' : await checkpoints.diff(target, first.commit, last.commit, { stat: true })
  const files = stat.split('\n').filter(line => line.trim() !== '')
  const parts = [
    ...(commits.length === 0 ? [] : [`Commits since the work began, newest first:\n\n${commits.join('\n')}`]),
    ...(files.length === 0
      ? []
      : [`Files that changed since the work began, committed or not:\n\n${files.slice(-MAX_LINES).join('\n')}`]),
  ]
  return parts.join('\n\n')
}
