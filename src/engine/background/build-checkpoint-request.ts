import { type CheckpointRecord, MAX_ENTRIES } from '../../core/checkpoint/record.ts'
import { publicPhase, type Session } from '../../core/session/session-state.ts'
import { totalUsage } from '../../core/session/usage.ts'
import { findEnvSecretsWithBase64 } from '../../lib/mask/env-secrets.ts'
import { Mask } from '../../lib/mask/mask.ts'
import type { Agent } from '../../ports/agent.ts'
import type { SessionFiles } from '../../ports/runtime.ts'
import { stripTranscriptNotes } from '../../core/describe/transcript-notes.ts'
import { CHECKPOINT_TRIGGERS, type CheckpointTrigger, RECORD_TRIGGERS } from '../../core/checkpoint/checkpoint.ts'
import type { CheckpointRequest } from '../../ports/checkpoints.ts'
import type { EngineContext } from '../context.ts'

/** Characters of all messages together that each checkpoint record holds. */
const MAX_MESSAGES_LENGTH = 20_000
const MAX_TEXT_LENGTH = 4_000
const MAX_TITLE_LENGTH = 500
/** Tasks per record. The reader refuses a record that is far longer than this limit makes it. */
const MAX_TASKS = 200
/** Arguments per record; readers show them and do not use them. */
const MAX_ARGUMENTS = 20

/** Returns the record as JSON with masked secrets, because a push may publish it. */
export function formatCheckpointRecord(
  session: Session,
  runtime: SessionFiles,
  program: Agent['program'] = '',
): string {
  return checkpointRecordAndMessages(session, runtime, program).record
}

/** Returns the record, and beside it all complete messages if they are too long for the record. */
function checkpointRecordAndMessages(
  session: Session,
  runtime: SessionFiles,
  program: Agent['program'],
): { record: string; goal?: readonly string[] } {
  const { spec, thread, phase, tasks, spending } = session
  const mask = new Mask(findEnvSecretsWithBase64(runtime.readEnvironment(spec.id)))
  const hide = (text: string): string => mask.maskText(text)
  const reason = phaseReason(session)
  const { id, name, task, agent, title, cwd, argv, autonomy, model, effort } = spec
  const { limits, maxTime, maxOutput = null, memory, patience, verify } = spec.supervision
  const goal = firstAndLast(session.messages).map(message =>
    hide(Buffer.from(runtime.readMessage(id, message.id)).toString()),
  )
  const short = truncateMessages(goal)
  const record: CheckpointRecord = {
    version: 1,
    session: {
      id,
      name,
      task,
      agent,
      title: hide(title).slice(0, MAX_TITLE_LENGTH),
      cwd: hide(cwd),
      argv: maskArguments(argv.slice(typeof program === 'string' ? 1 : Math.max(1, program.length)), mask)
        .slice(0, MAX_ARGUMENTS)
        .map(word => word.slice(0, MAX_TEXT_LENGTH)),
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
    tasks: tasks.slice(-MAX_TASKS).map(({ id: number, title: what, state }) => ({
      id: number,
      title: hide(what).slice(0, MAX_TITLE_LENGTH),
      state,
    })),
    lastWord: finalOutput(session, runtime, hide),
    state: phase.name === 'ended' ? phase.outcome : publicPhase(phase),
    reason: reason === null ? null : hide(reason).slice(0, MAX_TEXT_LENGTH),
    spent: totalUsage(spending),
    spentInThread: spending.thread,
  }
  return { record: JSON.stringify(record), ...(short.some((text, at) => text !== goal[at]) && { goal }) }
}

/** Keeps the first entry and the last ones. */
function firstAndLast<T>(all: readonly T[]): readonly T[] {
  return all.length <= MAX_ENTRIES ? all : [...all.slice(0, 1), ...all.slice(1 - MAX_ENTRIES)]
}

/** Masks the arguments as one line, because an argument may be secret by the one before it, as after `--token`. */
function maskArguments(words: readonly string[], mask: Mask): string[] {
  const line = Buffer.from(words.join(' '))
  mask.maskBytes(line)
  let at = 0
  return words.map(word => {
    const from = at
    at += Buffer.byteLength(word) + 1
    return line.subarray(from, at - 1).toString()
  })
}

/** Cuts masked messages only: a mask does not recognise a part of a secret. */
function truncateMessages(goal: readonly string[]): string[] {
  let room = MAX_MESSAGES_LENGTH
  return goal.map(text => {
    const part = text.length <= room ? text : `${text.slice(0, room)}…`
    room = Math.max(0, room - text.length)
    return part
  })
}

/**
 * Returns the end of the last output; of a running session, the output so far. Reads more than it keeps, so that it
 * masks secrets before it cuts them.
 */
function finalOutput(
  { spec, attempt: { result } }: Session,
  runtime: SessionFiles,
  hide: (text: string) => string,
): string | null {
  const text = hide(result?.text ?? stripTranscriptNotes(runtime.transcriptTail(spec.id, 2 * MAX_TEXT_LENGTH))).slice(
    -MAX_TEXT_LENGTH,
  )
  return text === '' ? null : text
}

function phaseReason({ phase }: Session): string | null {
  switch (phase.name) {
    case 'resting':
    case 'ended':
      return phase.reason
    case 'waiting':
    case 'blocked':
      return phase.question
    case 'stopping':
    case 'verifying':
      return phase.next.reason
    default:
      return null
  }
}

/** Returns the save request for a checkpoint. It also fulfils the request that is pending in the session. */
export function checkpointRequest(
  session: Session,
  trigger: CheckpointTrigger,
  { agents, clock, runtime }: Pick<EngineContext, 'agents' | 'clock' | 'runtime'>,
): CheckpointRequest {
  const { spec, saved } = session
  const { number: attempt } = session.attempt
  const moments = saved.wanted === null ? [trigger] : [trigger, saved.wanted.trigger]
  const weight = (moment: CheckpointTrigger): number => CHECKPOINT_TRIGGERS.indexOf(moment)
  return {
    trigger: moments.reduce((one, other) => (weight(other) > weight(one) ? other : one)),
    attempt,
    at: clock.now(),
    ...checkpointRecordAndMessages(session, runtime, agents(spec.agent).program),
    isRecordNews: moments.some(moment => RECORD_TRIGGERS.includes(moment)),
    isVisible: spec.supervision.saving.mode === 'branch' && moments.some(moment => isVisibleTrigger(moment, session)),
  }
}

/**
 * Returns true for triggers that commit the agent's work visibly. Edits of people before, after and beside it stay
 * uncommitted.
 */
function isVisibleTrigger(trigger: CheckpointTrigger, { phase }: Session): boolean {
  if (trigger === 'stop' || trigger === 'end' || trigger === 'error') return true
  return phase.name !== 'ended' && (trigger === 'edit' || trigger === 'interval' || trigger === 'restart')
}
