import type { Session } from './session.ts'
import type { SignalOf } from './signals.ts'
import { nothing, type Step, step } from './step.ts'

export function start(session: Session, signal: SignalOf<'attempt.started'>): Step {
  const { life, attempt, at } = signal
  return step(
    { ...session, life, startedAt: session.startedAt ?? life.startedAt, phase: { name: 'running', since: at } },
    [{ at, type: 'attempt.started', attempt, life }],
  )
}

export function rememberLife(session: Session, signal: SignalOf<'attempt.started'>): Step {
  const { life, attempt, at } = signal
  if (session.life !== null) return nothing(session)
  const startedAt = session.startedAt ?? life.startedAt
  return step({ ...session, life, startedAt }, [{ at, type: 'attempt.started', attempt, life }])
}

export function rememberThread(session: Session, { at, thread }: SignalOf<'agent.threaded'>): Step {
  if (session.thread === thread) return nothing(session)
  return step({ ...session, thread }, [{ at, type: 'thread.known', thread }])
}

export function rememberLastWord(session: Session, { at, word }: SignalOf<'agent.finished'>): Step {
  return step({ ...session, lastWord: word }, [{ at, type: 'turn.ended', word }])
}

export function block(session: Session, { at, question }: SignalOf<'agent.asked'>): Step {
  return step({ ...session, phase: { name: 'blocked', since: at, question } }, [
    { at, type: 'session.blocked', question },
  ])
}

export function unblock(session: Session, { at }: SignalOf<'agent.answered'>): Step {
  return step({ ...session, phase: { name: 'running', since: at } }, [{ at, type: 'session.unblocked' }])
}
