import { DEFAULT_SAVING, NOTHING_SAVED, type Saved, type Saving } from './checkpoint.ts'
import { create } from './create.ts'
import type { Thread } from './conversation.ts'
import type { TroubleKind } from './failure.ts'
import { DEFAULT_ALERT, DEFAULT_PATIENCE, DEFAULT_RESTART } from './rules.ts'
import type { Aftermath, LastWord, Phase, Session, Spec } from './session.ts'
import { NO_LIMITS } from './spending.ts'

type LaterSpec = 'autonomy' | 'model' | 'effort' | 'limits'

/** A session as the first version wrote it, which knew of no messages. */
interface Version1 extends Omit<Partial<Session>, 'spec' | 'thread' | 'bookmark' | 'lastWord' | 'phase'> {
  readonly spec: Omit<Spec, LaterSpec>
  readonly phase: Session['phase']
  readonly thread: string | null
  readonly bookmark: { readonly output: number; readonly transcript: number }
  readonly lastWord: { readonly ok: boolean; readonly text: string } | null
}

/** Brings a stored session to what this version knows of one. What an older one could not say is filled in as it was then. */
export function revive(written: Session | Version1): Session {
  const conversing = hasMessages(written) ? written : withMessages(written)
  return kept(isCurrent(conversing) ? conversing : supervised(conversing))
}

/** Before there were checkpoints and tasks. */
type Version3 = Omit<Session, 'spec' | 'saved'> & {
  readonly spec: Omit<Spec, 'saving'> & { readonly saving?: Saving }
  readonly saved?: Saved
}

function isKept(written: Version3): written is Session {
  return written.spec.saving !== undefined && written.saved !== undefined
}

function kept(written: Version3): Session {
  if (isKept(written)) return written
  return { ...written, spec: { ...written.spec, saving: DEFAULT_SAVING }, saved: NOTHING_SAVED, tasks: [], notes: [] }
}

function hasMessages(written: Session | Version1): written is Session {
  return written.messages !== undefined
}

function withMessages(written: Version1): Session {
  const spec: Spec = { autonomy: 'full', model: null, effort: null, limits: NO_LIMITS, ...written.spec }
  const { session: newborn } = create(spec, { hasPrompt: spec.agent !== 'command' })
  const isDone = written.phase.name === 'ended' && written.phase.outcome === 'done'
  const hasSpoken = written.thread !== null || isDone
  const isAlive = written.phase.name !== 'ended' && written.exit === null
  const heard = written.thread !== null && !isAlive ? 1 : 0
  const thread: Thread = {
    ...newborn.thread,
    id: written.thread,
    heard,
    needsDigest: written.thread === null && isDone,
  }
  return {
    ...newborn,
    ...written,
    // The first version believed exit codes; an attempt that it started says nothing else.
    spec: spec.agent === 'command' || isAlive ? spec : { ...spec, proof: 'end-event' },
    thread,
    messages: newborn.messages.map(prompt => ({ ...prompt, confirmedAt: hasSpoken ? spec.createdAt : null })),
    errand: newborn.errand === null ? null : { ...newborn.errand, isConfirmed: hasSpoken },
    lastWord: written.lastWord === null ? null : modernWord(written.lastWord),
    bookmark: { ...written.bookmark, memory: {} },
    phase: modernPhase(written.phase),
  }
}

function modernWord({ ok, text }: { readonly ok: boolean; readonly text: string }): LastWord {
  return ok ? { ok, text } : { ok, text, failure: { kind: 'other', text, resetAt: null, remedy: null } }
}

function modernPhase(phase: Session['phase']): Session['phase'] {
  if (phase.name === 'resting') return { ...phase, since: phase.until, cause: 'crash' }
  if (phase.name !== 'stopping' || phase.next.kind !== 'rest') return phase
  return { ...phase, next: { ...phase.next, cause: 'crash', thread: 'same' } }
}

/** Before there were policies of its own for each session, and names for what goes wrong. */
type Version2 = Omit<Session, 'restartCount'> & { readonly restartCount?: number }

function isCurrent(written: Version2): written is Session {
  return written.spec.patience !== undefined && written.restartCount !== undefined
}

function supervised(written: Version2): Session {
  const { spec, restarts, exit, lastWord } = written
  const trouble = lastWord !== null && !lastWord.ok ? lastWord.failure.kind : 'crash'
  return {
    ...written,
    spec: {
      ...spec,
      restart: { ...DEFAULT_RESTART, ...spec.restart },
      patience: { ...DEFAULT_PATIENCE, silence: null },
      memory: null,
      alertAfter: DEFAULT_ALERT,
    },
    restartCount: restarts.length,
    forgivenAt: 0,
    alertedAt: null,
    limitedSince: null,
    phase: namedPhase(written.phase, { trouble, isIdle: exit !== null }),
  }
}

function namedPhase(phase: Phase, known: { readonly trouble: TroubleKind; readonly isIdle: boolean }): Phase {
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
      return { ...phase, next: namedAftermath(phase.next, trouble) }
    case 'ended':
      return { ...phase, trouble: troubleOfEnd(phase.outcome, trouble) }
  }
}

function namedAftermath(next: Aftermath, trouble: TroubleKind): Aftermath {
  if (next.kind === 'next') return next
  return next.kind === 'end' ? { ...next, trouble: troubleOfEnd(next.outcome, trouble) } : { ...next, trouble }
}

function troubleOfEnd(outcome: string, trouble: TroubleKind): TroubleKind | null {
  return outcome === 'done' ? null : outcome === 'stopped' ? 'stopped' : trouble
}
