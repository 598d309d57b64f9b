import { describeEvent } from '../../core/describe/event.ts'
import type { Session } from '../../core/session/session-state.ts'
import type { Task } from '../../core/session/tasks-and-tracker-issues.ts'
import { formatIso } from '../../lib/time.ts'
import { describeSpent } from '../describe-session.ts'
import { renderState } from '../describe-session.ts'
import { takesMessages, findNextCommand } from '../describe-session.ts'
import { toLine, type PageData } from './page-input.ts'

const MAX_TASKS = 5

/** Renders STATUS.md: the state of a session, for a reader who has only this file. */
export function renderStatus(data: PageData): string {
  const { view, events, now } = data
  const { name, reason } = view
  const facts = listFacts(data).flatMap(([label, value]) => (value === null ? [] : [`- ${label}: ${value}`]))
  return [
    `# ${renderState(view)} ${name}${reason === null ? '' : `: ${toLine(reason)}`}`,
    '',
    ...facts,
    '',
    `Next: \`${chooseCommand(data)}\``,
    '',
    '## Last events',
    '',
    ...events.map(event => `- ${formatIso(event.at)} ${toLine(describeEvent(event))}`),
    '',
    `oneshot wrote this page at ${formatIso(now)}, when something changed. The present state: \`oneshot status ${name}\``,
    '',
  ].join('\n')
}

function listFacts({ session, view, lastWords }: PageData): [label: string, value: string | null][] {
  const { tasks, saved } = session
  const { activity } = session.attempt
  const unread = view.messages.accepted - view.messages.confirmed
  return [
    ['goal', toLine(view.title)],
    ['agent', [view.agent, view.mode === 'tty' ? 'on a terminal' : 'headless', view.model].filter(Boolean).join(', ')],
    ['directory', toLine(view.cwd)],
    ['thread', view.thread === null ? null : toLine(view.thread)],
    ['attempt', `${view.attempt} (${view.restarts} ${view.restarts === 1 ? 'restart' : 'restarts'})`],
    ['pid', view.pid === null ? null : String(view.pid)],
    ['accepted', view.createdAt],
    ['since', formatIso(phaseStart(session))],
    ['doing', view.activity === null ? null : toLine(view.activity)],
    ['last edit', activity.editedAt === null ? null : formatIso(activity.editedAt)],
    ['last words', lastWords === null ? null : toLine(lastWords)],
    ['last output', view.lastOutputAt],
    [
      'last checkpoint',
      saved.last === null ? null : `${saved.last.number} (${saved.last.trigger}), ${formatIso(saved.last.at)}`,
    ],
    ['left out of it', saved.last?.leftOut?.map(toLine).join('; ') ?? null],
    ['checkpoints', saved.trouble === null ? null : `none could be made: ${toLine(saved.trouble)}`],
    ['tasks', tasks.length === 0 ? null : summarizeTasks(tasks)],
    ['messages', takesMessages(view) && unread > 0 ? `${unread} not read yet` : null],
    ['waits for', describeWait(session)],
    ['spent', describeSpent(view)],
    ['deadline', view.deadline],
    ['ended', view.endedAt],
  ]
}

function summarizeTasks(tasks: readonly Task[]): string {
  const open = tasks.filter(task => task.state !== 'done')
  const named = open.slice(0, MAX_TASKS).map(task => toLine(task.title))
  const more = open.length > MAX_TASKS ? [`and ${open.length - MAX_TASKS} more`] : []
  return `${open.length} open of ${tasks.length}${open.length === 0 ? '' : `: ${[...named, ...more].join('; ')}`}`
}

function describeWait({ phase }: Session): string | null {
  switch (phase.name) {
    case 'resting':
      return `${formatIso(phase.until)}, when it continues`
    case 'waiting':
    case 'blocked':
      return phase.trouble === 'held' ? 'you to resume it' : `you: ${toLine(phase.question)}`
    default:
      return null
  }
}

/** Returns the start of the current phase. */
function phaseStart({ phase, clockSince }: Session): number {
  if (phase.name === 'ended') return phase.at
  return 'since' in phase ? phase.since : clockSince
}

function chooseCommand({ view }: PageData): string {
  return findNextCommand(view) ?? `oneshot ${view.phase === 'ended' ? 'log' : 'attach'} ${view.name}`
}
