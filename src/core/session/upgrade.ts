import {
  DEFAULT_CHECKPOINT_OPTIONS,
  NO_CHECKPOINTS,
  type CheckpointStatus,
  type CheckpointOptions,
} from '../checkpoint/checkpoint.ts'
import { createSession } from './create.ts'
import type { Thread } from './conversation.ts'
import type { ProblemKind } from './failure.ts'
import { DEFAULT_ALERT_AFTER, DEFAULT_WAIT_LIMITS, DEFAULT_RESTART } from './supervision.ts'
import type { NextStep, TurnResult, Phase, Session, Spec } from './session.ts'
import { NO_LIMITS } from './usage.ts'

type SpecFieldsSince2 = 'autonomy' | 'model' | 'effort' | 'limits'

/** A session of the first version, which had no messages. */
interface Version1 extends Omit<Partial<Session>, 'spec' | 'thread' | 'bookmark' | 'lastWord' | 'phase'> {
  readonly spec: Omit<Spec, SpecFieldsSince2>
  readonly phase: Session['phase']
  readonly thread: string | null
  readonly bookmark: { readonly output: number; readonly transcript: number }
  readonly lastWord: { readonly ok: boolean; readonly text: string } | null
}

/** Upgrades a stored session to the present version. Missing fields get the values that match the older behaviour. */
export function upgradeSession(written: Session | Version1): Session {
  const conversing = hasMessages(written) ? written : withMessages(written)
  return withCheckpointFields(isCurrent(conversing) ? conversing : withPolicyFields(conversing))
}

/** A session from before checkpoints and tasks. */
type Version3 = Omit<Session, 'spec' | 'saved'> & {
  readonly spec: Omit<Spec, 'saving'> & { readonly saving?: CheckpointOptions }
  readonly saved?: CheckpointStatus
}

function hasCheckpointFields(written: Version3): written is Session {
  return written.spec.saving !== undefined && written.saved !== undefined
}

function withCheckpointFields(written: Version3): Session {
  if (hasCheckpointFields(written)) return written
  return {
    ...written,
    spec: { ...written.spec, saving: DEFAULT_CHECKPOINT_OPTIONS },
    saved: NO_CHECKPOINTS,
    tasks: [],
    notes: [],
  }
}

function hasMessages(written: Session | Version1): written is Session {
  return written.messages !== undefined
}

function withMessages(written: Version1): Session {
  const spec: Spec = { autonomy: 'full', model: null, effort: null, limits: NO_LIMITS, ...written.spec }
  const { session: newSession } = createSession(spec, { hasPrompt: spec.agent !== 'command' })
  const isDone = written.phase.name === 'ended' && written.phase.outcome === 'done'
  const hasSpoken = written.thread !== null || isDone
  const isAlive = written.phase.name !== 'ended' && written.exit === null
  const heard = written.thread !== null && !isAlive ? 1 : 0
  const thread: Thread = {
    ...newSession.thread,
    id: written.thread,
    heard,
    needsDigest: written.thread === null && isDone,
  }
  return {
    ...newSession,
    ...written,
    // The first version trusted exit codes; an attempt that it started reports nothing else.
    spec: spec.agent === 'command' || isAlive ? spec : { ...spec, proof: 'end-event' },
    thread,
    messages: newSession.messages.map(prompt => ({ ...prompt, confirmedAt: hasSpoken ? spec.createdAt : null })),
    errand: newSession.errand === null ? null : { ...newSession.errand, isConfirmed: hasSpoken },
    lastWord: written.lastWord === null ? null : upgradeTurnResult(written.lastWord),
    bookmark: { ...written.bookmark, memory: {} },
    phase: upgradePhase(written.phase),
  }
}

function upgradeTurnResult({ ok, text }: { readonly ok: boolean; readonly text: string }): TurnResult {
  return ok ? { ok, text } : { ok, text, failure: { kind: 'other', text, resetAt: null, remedy: null } }
}

function upgradePhase(phase: Session['phase']): Session['phase'] {
  if (phase.name === 'resting') return { ...phase, since: phase.until, cause: 'crash' }
  if (phase.name !== 'stopping' || phase.next.kind !== 'rest') return phase
  return { ...phase, next: { ...phase.next, cause: 'crash', thread: 'same' } }
}

/** A session from before policies per session and problem kinds. */
type Version2 = Omit<Session, 'restartCount'> & { readonly restartCount?: number }

function isCurrent(written: Version2): written is Session {
  return written.spec.patience !== undefined && written.restartCount !== undefined
}

function withPolicyFields(written: Version2): Session {
  const { spec, restarts, exit, lastWord } = written
  const trouble = lastWord !== null && !lastWord.ok ? lastWord.failure.kind : 'crash'
  return {
    ...written,
    spec: {
      ...spec,
      restart: { ...DEFAULT_RESTART, ...spec.restart },
      patience: { ...DEFAULT_WAIT_LIMITS, silence: null },
      memory: null,
      alertAfter: DEFAULT_ALERT_AFTER,
    },
    restartCount: restarts.length,
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
      return phase
    case 'resting':
      return { ...phase, trouble }
    case 'blocked':
      return { ...phase, isIdle, trouble: isIdle ? trouble : 'approval' }
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
