import { describeEvent } from '../../core/describe-event.ts'
import type { Session } from '../../core/session.ts'
import type { Task } from '../../core/task.ts'
import { iso } from '../../lib/time.ts'
import { describeSpent } from '../spent.ts'
import { stateLabel } from '../state.ts'
import { takesMessages, wayOn } from '../way-on.ts'
import { inLine, type Material } from './material.ts'

const MOST_TASKS = 5

/** STATUS.md: how a session is doing, for somebody who has nothing but this file. */
export function statusPage(material: Material): string {
  const { view, events, now } = material
  const { name, reason } = view
  const facts = factsOf(material).flatMap(([label, value]) => (value === null ? [] : [`- ${label}: ${value}`]))
  return [
    `# ${stateLabel(view)} ${name}${reason === null ? '' : `: ${inLine(reason)}`}`,
    '',
    ...facts,
    '',
    `Next: \`${nextCommand(material)}\``,
    '',
    '## Last events',
    '',
    ...events.map(event => `- ${iso(event.at)} ${inLine(describeEvent(event))}`),
    '',
    `oneshot wrote this page at ${iso(now)}, when something changed. The present state: \`oneshot status ${name}\``,
    '',
  ].join('\n')
}

function factsOf({ session, view, lastWords }: Material): [label: string, value: string | null][] {
  const { activity, tasks, saved } = session
  const unread = view.messages.accepted - view.messages.confirmed
  return [
    ['goal', inLine(view.title)],
    ['agent', [view.agent, view.mode === 'tty' ? 'on a terminal' : 'headless', view.model].filter(Boolean).join(', ')],
    ['directory', inLine(view.cwd)],
    ['thread', view.thread === null ? null : inLine(view.thread)],
    ['attempt', `${view.attempt} (${view.restarts} ${view.restarts === 1 ? 'restart' : 'restarts'})`],
    ['pid', view.pid === null ? null : String(view.pid)],
    ['accepted', view.createdAt],
    ['since', iso(sinceOf(session))],
    ['doing', view.activity === null ? null : inLine(view.activity)],
    ['last edit', activity.editedAt === null ? null : iso(activity.editedAt)],
    ['last words', lastWords === null ? null : inLine(lastWords)],
    ['last output', view.lastOutputAt],
    [
      'last checkpoint',
      saved.last === null ? null : `${saved.last.number} (${saved.last.trigger}), ${iso(saved.last.at)}`,
    ],
    ['left out of it', saved.last?.leftOut?.map(inLine).join('; ') ?? null],
    ['checkpoints', saved.trouble === null ? null : `none could be made: ${inLine(saved.trouble)}`],
    ['tasks', tasks.length === 0 ? null : tasksIn(tasks)],
    ['messages', takesMessages(view) && unread > 0 ? `${unread} not read yet` : null],
    ['waits for', waitsFor(session)],
    ['spent', describeSpent(view)],
    ['deadline', view.deadline],
    ['ended', view.endedAt],
  ]
}

function tasksIn(tasks: readonly Task[]): string {
  const open = tasks.filter(task => task.state !== 'done')
  const named = open.slice(0, MOST_TASKS).map(task => inLine(task.title))
  const more = open.length > MOST_TASKS ? [`and ${open.length - MOST_TASKS} more`] : []
  return `${open.length} open of ${tasks.length}${open.length === 0 ? '' : `: ${[...named, ...more].join('; ')}`}`
}

function waitsFor({ phase }: Session): string | null {
  switch (phase.name) {
    case 'resting':
      return `${iso(phase.until)}, when it continues`
    case 'blocked':
      return phase.trouble === 'held' ? 'you to resume it' : `you: ${inLine(phase.question)}`
    default:
      return null
  }
}

/** When it came to be as it is. */
function sinceOf({ phase, clockSince }: Session): number {
  if (phase.name === 'ended') return phase.at
  return 'since' in phase ? phase.since : clockSince
}

function nextCommand({ view }: Material): string {
  return wayOn(view) ?? `oneshot ${view.phase === 'ended' ? 'log' : 'attach'} ${view.name}`
}
