import type { Session } from '../core/session.ts'
import { secretsIn } from '../lib/mask/env-secrets.ts'
import { Mask } from '../lib/mask/mask.ts'
import type { Agent } from '../ports/agent.ts'
import type { Work } from '../ports/work.ts'
import { withoutNotes } from './without-notes.ts'

/** How much of what was asked for is written down with each checkpoint. */
const LONGEST_GOAL = 20_000
const LONGEST_WORD = 4_000

/** What is needed to go on with a session where nothing but its repository is left. */
export interface CheckpointRecord {
  readonly version: 1
  readonly session: {
    readonly id: string
    readonly name: string
    readonly task: string
    readonly agent: string
    readonly title: string
    readonly cwd: string
    readonly argv: readonly string[]
    readonly autonomy: string
    readonly model: string | null
    readonly effort: string | null
  }
  readonly thread: string | null
  /** What it was asked for, in order. */
  readonly goal: readonly string[]
  readonly tasks: readonly { readonly id: string; readonly title: string; readonly state: string }[]
  readonly lastWord: string | null
  readonly state: string
  readonly reason: string | null
}

/** As JSON. It may be pushed to where others read it: secrets are hidden in it. */
export function checkpointRecord(session: Session, work: Work, program: Agent['program'] = ''): string {
  const { spec, thread, phase, tasks } = session
  const mask = new Mask(secretsIn(work.environment(spec.id)))
  const hide = (text: string): string => mask.hide(text)
  const reason = reasonOf(session)
  const { id, name, task, agent, title, cwd, argv, autonomy, model, effort } = spec
  const record: CheckpointRecord = {
    version: 1,
    session: {
      id,
      name,
      task,
      agent,
      title: hide(title),
      cwd,
      argv: hideInWords(argv.slice(typeof program === 'string' ? 1 : Math.max(1, program.length)), mask),
      autonomy,
      model,
      effort,
    },
    thread: thread.id,
    goal: goalOf(session, work, hide),
    tasks: tasks.map(({ id: number, title: what, state }) => ({ id: number, title: hide(what), state })),
    lastWord: lastWordOf(session, work, hide),
    state: phase.name === 'ended' ? phase.outcome : phase.name,
    reason: reason === null ? null : hide(reason),
  }
  return JSON.stringify(record)
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

/** Hidden before they are cut: a part of a secret is not known as one. */
function goalOf({ spec, messages }: Session, work: Work, hide: (text: string) => string): string[] {
  let room = LONGEST_GOAL
  return messages.map(({ id }) => {
    const text = room === 0 ? '…' : hide(Buffer.from(work.message(spec.id, id)).toString())
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
