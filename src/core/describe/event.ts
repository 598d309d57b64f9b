import { formatDuration, formatIso } from '../../lib/time.ts'
import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import type { Event } from '../session/events.ts'
import { describeExit } from '../policy/exit-policy.ts'
import type { StopStep } from '../session/session-state.ts'
import { describeUsage } from '../session/usage.ts'
import type { Task } from '../session/tasks-and-tracker-issues.ts'

/** Describes an event in a sentence, for people who want the whole story. */
export function describeEvent(event: Event): string {
  switch (event.type) {
    case 'session.created':
      return 'accepted'
    case 'attempt.launched':
      return `attempt ${event.attempt}: launched${describeTurnInput(event)}`
    case 'attempt.started':
      return `attempt ${event.attempt}: started, pid ${event.life.pid}`
    case 'attempt.failed-to-start':
      return `attempt ${event.attempt}: could not be started: ${event.reason}`
    case 'attempt.ended':
      return `attempt ${event.attempt}: ${describeExit(event.exit)}${event.spent ? `, used ${describeUsage(event.spent)}` : ''}`
    case 'thread.known':
      return `its thread is ${event.thread}`
    case 'thread.given-up':
      return `the agent cannot continue thread ${event.thread ?? 'without a name'}: ${event.reason}`
    case 'turn.ended':
      return event.word.ok ? 'the agent ended its turn' : `the agent ended its turn: ${event.word.failure.text}`
    case 'agent.retrying':
      return `the agent tries again by itself: ${event.failure.text}`
    case 'agent.unknown':
      return `oneshot does not understand this output: ${event.what}`
    case 'message.accepted':
      return `message ${event.message} accepted: ${event.gist}`
    case 'message.delivered':
      return `message ${event.message} given to attempt ${event.attempt}`
    case 'message.confirmed':
      return `message ${event.message} read, as the agent’s own record shows`
    case 'session.woken':
      return 'resumed'
    case 'session.blocked':
      return event.trouble === 'held' ? event.question : `waits for you: ${event.question}`
    case 'session.unblocked':
      return 'was answered'
    case 'session.resting':
      return `${event.reason}; ${event.until <= event.at ? 'continues at once' : `continues ${formatIso(event.until)}`}`
    case 'session.restarting-often':
      return `restarted ${event.restarts} times within ${formatDuration(event.within)}`
    case 'session.stopping':
      return `${event.reason}; ${STOP_STEPS[event.step]}`
    case 'checkpoint.saved':
      return describeCheckpoint(event.checkpoint)
    case 'checkpoint.failed':
      return `no checkpoint could be made: ${event.reason}`
    case 'checkpoint.pushed':
      return `checkpoint ${event.number} is on ${event.remote}`
    case 'checkpoint.unpushed':
      return `oneshot could not push checkpoints to ${event.remote} and tries again: ${event.reason}`
    case 'session.noted':
      return event.note
    case 'task.changed':
      return `task ${event.task.id} ${TASK_STATES[event.task.state]}: ${event.task.title}`
    case 'hook.ended':
      return `${event.hook} ${event.ok ? 'was run' : 'failed'}: ${event.reason}`
    case 'session.ended':
      return `${event.outcome}: ${event.reason}`
  }
}

const STOP_STEPS: { readonly [S in StopStep | 'prove']: string } = {
  interrupt: 'oneshot interrupts it',
  terminate: 'oneshot terminates it',
  kill: 'oneshot kills it',
  sweep: 'oneshot ends its processes',
  prove: 'oneshot checks its work',
}

function describeTurnInput({ errand, resume }: Extract<Event, { type: 'attempt.launched' }>): string {
  if (errand === undefined) return ''
  if (errand === 'digest') return ' in a new thread, with a summary of the work'
  return resume ? ' in its thread' : ''
}

const TASK_STATES: { readonly [S in Task['state']]: string } = {
  open: 'is open',
  doing: 'is in progress',
  done: 'is done',
}

function describeCheckpoint({ number, trigger, change, leftOut }: Checkpoint): string {
  const { files, added, removed } = change
  const what = `${files} ${files === 1 ? 'file' : 'files'}, +${added} −${removed}`
  return [`checkpoint ${number} (${trigger}): ${what}`, ...leftOut.map(sentence => `left out: ${sentence}`)].join('; ')
}
