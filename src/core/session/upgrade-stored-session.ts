import { DEFAULT_CHECKPOINT_OPTIONS, NO_CHECKPOINTS } from '../checkpoint/checkpoint.ts'
import type { Activity, Attempt, ParserState, TurnResult } from './attempt.ts'
import { createSession } from './create.ts'
import type { Message, Thread, ThreadId } from './conversation.ts'
import type { ProblemKind } from './failure.ts'
import { DEFAULT_ALERT_AFTER, DEFAULT_WAIT_LIMITS, DEFAULT_RESTART, type Supervision } from './supervision-options.ts'
import type { NextStep, Phase, Session, SessionIn, Spec, StopStep } from './session-state.ts'
import { NO_LIMITS } from './usage.ts'

/** A spec of 0.1.0 or older: the supervision group's options stand beside the other fields, and old specs lack some. */
type FlatSpec = Omit<Spec, 'supervision' | AddedField> &
  Partial<Pick<Spec, AddedField> & Supervision> &
  Pick<Supervision, 'maxTime'>

type AddedField = 'autonomy' | 'model' | 'effort'

type WithFlatSpec = Omit<Session, 'spec'> & { readonly spec: FlatSpec }

/** A session of 0.1.0: the fields of the attempt stand beside those of the session, and two phases hide in others. */
interface FlatSession extends Omit<WithFlatSpec, 'attempt' | 'messages' | 'phase' | 'transcriptLength'> {
  readonly attempt: number
  readonly errand: Attempt['input']
  readonly isTurnOver: boolean
  readonly life: Attempt['process']
  readonly exit: Attempt['exit']
  readonly lastWord: Attempt['result']
  readonly activity: Omit<Activity, 'tools'> & { readonly tools: readonly WithGist<Activity['tools'][number]>[] }
  readonly bookmark: { readonly output: number; readonly transcript: number; readonly memory: ParserState }
  readonly messages: readonly WithGist<Message>[]
  readonly phase: UnsplitPhase
}

type WithGist<T> = Omit<T, 'summary'> & { readonly gist: string }

/** The last step of a stop was `prove`, and a flag said whether a blocked session had a process. */
type UnsplitPhase =
  | Exclude<Phase, { name: 'stopping' | 'blocked' }>
  | (Omit<SessionIn<'stopping'>['phase'], 'step'> & { readonly step: StopStep | 'prove' })
  | (SessionIn<'blocked'>['phase'] & { readonly isIdle?: boolean })

/** A session of the first version, which had no messages. */
interface Version1 {
  readonly spec: FlatSpec
  readonly phase: UnsplitPhase
  readonly attempt: number
  readonly thread: ThreadId | null
  readonly life: Attempt['process']
  readonly exit: Attempt['exit']
  readonly lastWord: { readonly ok: boolean; readonly text: string } | null
  readonly startedAt: Session['startedAt']
  readonly bookmark: { readonly output: number; readonly transcript: number }
}

/** A session as any version stored it. */
export type StoredSession = Session | WithFlatSpec | FlatSession | Version1

/** Upgrades a stored session to the present version. Missing fields get the values that match the older behaviour. */
export function upgradeSession(written: StoredSession): Session {
  if (isCurrent(written)) return written
  const spec = nestSupervision(written.spec)
  if ('transcriptLength' in written) return { ...written, spec }
  const session = 'messages' in written ? nestAttempt(written, spec) : addMessages(written, spec)
  return withCheckpointFields('restartCount' in written ? session : withPolicyFields(session))
}

/** The nested supervision group is the latest change: a session that has it needs no upgrade. */
function isCurrent(written: StoredSession): written is Session {
  return 'supervision' in written.spec
}

function nestSupervision(written: FlatSpec): Spec {
  const { maxTime, limits, restart, patience, memory, saving, alertAfter, ...others } = written
  const { stopGrace, maxOutput, verify, onExit, projectFiles, beads, ...kept } = others
  return {
    autonomy: 'full',
    model: null,
    effort: null,
    ...kept,
    supervision: {
      maxTime,
      limits: limits ?? NO_LIMITS,
      restart: { ...DEFAULT_RESTART, ...restart },
      patience: patience ?? { ...DEFAULT_WAIT_LIMITS, silence: null },
      ...(stopGrace !== undefined && { stopGrace }),
      memory: memory ?? null,
      ...(maxOutput !== undefined && { maxOutput }),
      saving: saving ?? DEFAULT_CHECKPOINT_OPTIONS,
      alertAfter: alertAfter ?? DEFAULT_ALERT_AFTER,
      ...(verify !== undefined && { verify }),
      ...(onExit !== undefined && { onExit }),
      ...(projectFiles !== undefined && { projectFiles }),
      ...(beads !== undefined && { beads }),
    },
  }
}

function nestAttempt(written: FlatSession, spec: Spec): Session {
  const { attempt: number, errand, isTurnOver, life, exit, lastWord, activity, bookmark, ...kept } = written
  return {
    ...kept,
    spec,
    attempt: {
      number,
      input: errand,
      isTurnOver,
      process: life,
      exit,
      result: lastWord,
      activity: { ...activity, tools: activity.tools.map(renameGist) },
      position: { output: bookmark.output, parserState: bookmark.memory },
    },
    messages: written.messages.map(renameGist),
    transcriptLength: bookmark.transcript,
    phase: splitPhase(written.phase, written.clockSince),
  }
}

function renameGist<T extends { readonly gist: string }>({ gist, ...kept }: T): Omit<T, 'gist'> & { summary: string } {
  return { ...kept, summary: gist }
}

/** `since`: the time that 0.1.0 showed for a stop, which recorded none. */
function splitPhase(phase: UnsplitPhase, since: number): Phase {
  if (phase.name === 'stopping') {
    const { step, ...stop } = phase
    return step === 'prove' ? { name: 'verifying', since, next: phase.next } : { ...stop, step }
  }
  if (phase.name !== 'blocked' || phase.isIdle === undefined) return phase
  const { isIdle, ...blocked } = phase
  return isIdle ? blocked : { ...blocked, name: 'waiting' }
}

function addMessages(written: Version1, spec: Spec): Session {
  const { bookmark, life, lastWord, exit, attempt: number, thread: threadId, ...kept } = written
  const { session: newSession } = createSession(spec, { hasPrompt: spec.agent !== 'command' })
  const { input } = newSession.attempt
  const isDone = written.phase.name === 'ended' && written.phase.outcome === 'done'
  const hasSpoken = threadId !== null || isDone
  const isAlive = written.phase.name !== 'ended' && exit === null
  const heard = threadId !== null && !isAlive ? 1 : 0
  const thread: Thread = { ...newSession.thread, id: threadId, heard, needsDigest: threadId === null && isDone }
  return {
    ...newSession,
    ...kept,
    // The first version trusted exit codes; an attempt that it started reports nothing else.
    spec: spec.agent === 'command' || isAlive ? spec : { ...spec, proof: 'end-event' },
    thread,
    messages: newSession.messages.map(prompt => ({ ...prompt, confirmedAt: hasSpoken ? spec.createdAt : null })),
    attempt: {
      ...newSession.attempt,
      number,
      input: input === null ? null : { ...input, isConfirmed: hasSpoken },
      process: life,
      exit,
      result: lastWord === null ? null : upgradeTurnResult(lastWord),
      position: { output: bookmark.output, parserState: {} },
    },
    transcriptLength: bookmark.transcript,
    phase: withRestCause(splitPhase(written.phase, newSession.clockSince)),
  }
}

function upgradeTurnResult({ ok, text }: { readonly ok: boolean; readonly text: string }): TurnResult {
  return ok ? { ok, text } : { ok, text, failure: { kind: 'other', text, resetAt: null, remedy: null } }
}

function withRestCause(phase: Phase): Phase {
  if (phase.name === 'resting') return { ...phase, since: phase.until, cause: 'crash' }
  if (phase.name !== 'stopping' || phase.next.kind !== 'rest') return phase
  return { ...phase, next: { ...phase.next, cause: 'crash', thread: 'same' } }
}

/** Upgrades a session from before policies per session and problem kinds. */
function withPolicyFields(written: Session): Session {
  const { exit, result } = written.attempt
  const trouble = result !== null && !result.ok ? result.failure.kind : 'crash'
  return {
    ...written,
    restartCount: written.restarts.length,
    forgivenAt: 0,
    alertedAt: null,
    limitedSince: null,
    phase: withProblemKind(written.phase, { trouble, isIdle: exit !== null }),
  }
}

function withProblemKind(phase: Phase, known: { readonly trouble: ProblemKind; readonly isIdle: boolean }): Phase {
  const { trouble, isIdle } = known
  switch (phase.name) {
    case 'starting':
    case 'running':
    case 'verifying':
    case 'waiting':
      return phase
    case 'resting':
      return { ...phase, trouble }
    case 'blocked':
      return isIdle ? { ...phase, trouble } : { ...phase, name: 'waiting', trouble: 'approval' }
    case 'stopping':
      return { ...phase, next: nextStepWithProblem(phase.next, trouble) }
    case 'ended':
      return { ...phase, trouble: problemOfEnd(phase.outcome, trouble) }
  }
}

function nextStepWithProblem(next: NextStep, trouble: ProblemKind): NextStep {
  if (next.kind === 'next') return next
  return next.kind === 'end' ? { ...next, trouble: problemOfEnd(next.outcome, trouble) } : { ...next, trouble }
}

function problemOfEnd(outcome: string, trouble: ProblemKind): ProblemKind | null {
  return outcome === 'done' ? null : outcome === 'stopped' ? 'stopped' : trouble
}

type CheckpointField = 'saved' | 'tasks' | 'notes'

/** Upgrades a session from before checkpoints and tasks. */
function withCheckpointFields(
  written: Omit<Session, CheckpointField> & Partial<Pick<Session, CheckpointField>>,
): Session {
  return { saved: NO_CHECKPOINTS, tasks: [], notes: [], ...written }
}
