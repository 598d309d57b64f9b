import { type CheckpointRecord, MOST_ENTRIES } from '../core/checkpoint-record.ts'
import type { Session } from '../core/session.ts'
import { spentBy } from '../core/spending.ts'
import { secretsToKeep } from '../lib/mask/env-secrets.ts'
import { Mask } from '../lib/mask/mask.ts'
import type { Agent } from '../ports/agent.ts'
import type { Work } from '../ports/work.ts'
import { withoutNotes } from './without-notes.ts'

/** How much of what was asked for is written down with each checkpoint. */
const LONGEST_GOAL = 20_000
const LONGEST_WORD = 4_000
const LONGEST_TITLE = 500
/** The reader takes no record that is far longer than this makes it. */
const MOST_TASKS = 200
/** Of the arguments, which are shown and not used. */
const MOST_WORDS = 20

/** As JSON. It may be pushed to where others read it: secrets are hidden in it. */
export function checkpointRecord(session: Session, work: Work, program: Agent['program'] = ''): string {
  return recordAndGoal(session, work, program).record
}

/** The same, and beside it all messages, whole, where they are too long to be written down with each checkpoint. */
export function recordAndGoal(
  session: Session,
  work: Work,
  program: Agent['program'],
): { record: string; goal?: readonly string[] } {
  const { spec, thread, phase, tasks, spending } = session
  const mask = new Mask(secretsToKeep(work.environment(spec.id)))
  const hide = (text: string): string => mask.hide(text)
  const reason = reasonOf(session)
  const { id, name, task, agent, title, cwd, argv, autonomy, model, effort, limits, maxTime, patience, verify } = spec
  const { maxOutput = null, memory } = spec
  const goal = firstAndLast(session.messages).map(message => hide(Buffer.from(work.message(id, message.id)).toString()))
  const short = shortened(goal)
  const record: CheckpointRecord = {
    version: 1,
    session: {
      id,
      name,
      task,
      agent,
      title: hide(title).slice(0, LONGEST_TITLE),
      cwd: hide(cwd),
      argv: hideInWords(argv.slice(typeof program === 'string' ? 1 : Math.max(1, program.length)), mask)
        .slice(0, MOST_WORDS)
        .map(word => word.slice(0, LONGEST_WORD)),
      autonomy,
      model,
      effort,
      limits,
      maxTime,
      maxOutput,
      memory,
      patience,
      verify: verify === undefined ? null : { ...verify, check: verify.check === null ? null : hide(verify.check) },
    },
    thread: thread.id,
    goal: short,
    tasks: tasks
      .slice(-MOST_TASKS)
      .map(({ id: number, title: what, state }) => ({ id: number, title: hide(what).slice(0, LONGEST_TITLE), state })),
    lastWord: lastWordOf(session, work, hide),
    state: phase.name === 'ended' ? phase.outcome : phase.name,
    reason: reason === null ? null : hide(reason).slice(0, LONGEST_WORD),
    spent: spentBy(spending),
    spentInThread: spending.thread,
  }
  return { record: JSON.stringify(record), ...(short.some((text, at) => text !== goal[at]) && { goal }) }
}

/** What was asked for first, and what was asked for last. */
function firstAndLast<T>(all: readonly T[]): readonly T[] {
  return all.length <= MOST_ENTRIES ? all : [...all.slice(0, 1), ...all.slice(1 - MOST_ENTRIES)]
}

/** A word may be secret by the one before it: `--token` says what follows. */
function hideInWords(words: readonly string[], mask: Mask): string[] {
  const line = Buffer.from(words.join(' '))
  mask.hideIn(line)
  let at = 0
  return words.map(word => {
    const from = at
    at += Buffer.byteLength(word) + 1
    return line.subarray(from, at - 1).toString()
  })
}

/** Secrets are hidden before they are cut: a part of a secret is not known as one. */
function shortened(goal: readonly string[]): string[] {
  let room = LONGEST_GOAL
  return goal.map(text => {
    const part = text.length <= room ? text : `${text.slice(0, room)}…`
    room = Math.max(0, room - text.length)
    return part
  })
}

/** While it is at work, what it said so far. Of that more is read than is kept, for the same reason. */
function lastWordOf({ spec, lastWord }: Session, work: Work, hide: (text: string) => string): string | null {
  const text = hide(lastWord?.text ?? withoutNotes(work.lastWords(spec.id, 2 * LONGEST_WORD))).slice(-LONGEST_WORD)
  return text === '' ? null : text
}

function reasonOf({ phase }: Session): string | null {
  switch (phase.name) {
    case 'resting':
    case 'ended':
      return phase.reason
    case 'blocked':
      return phase.question
    case 'stopping':
      return 'reason' in phase.next ? phase.next.reason : null
    default:
      return null
  }
}
