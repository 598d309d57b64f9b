import { describeEffect } from '../core/describe/repeated-action-failures.ts'
import type { ThreadId } from '../core/session/conversation.ts'
import type { Effect } from '../core/session/decision.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Session } from '../core/session/session-state.ts'
import type { Signal } from '../core/session/signals.ts'
import type { Duration } from '../lib/time.ts'
import { Trouble, invariant } from '../lib/errors.ts'
import type { Agent } from '../ports/agent.ts'
import { attemptRef } from '../ports/runtime.ts'
import { observeAttempt } from './observe.ts'
import { performEffect, type SessionContext } from './perform.ts'
import type { DecisionCommitter } from './decision-committer.ts'
import { checkFinalThread } from './thread-survey.ts'
import { UnfinishedLines } from './line-end-search.ts'
import type { EngineContext } from './context.ts'

/** Milliseconds before the next observation of an attempt whose start or end no mailbox entry may announce. */
const OBSERVE_DELAY = 1_000

/** The engine's functions that the runner calls. */
interface RunnerContext {
  readonly isShutDown: () => boolean
  readonly observe: (sessionId: SessionId) => void
  readonly saveBeforeStart: (session: Session) => Promise<Signal[]>
  readonly gitSummary: (session: Session) => Promise<string>
}

/** Handles one session under its lock: records the news about it and performs its pending effects. */
export class SessionRunner {
  readonly #context: EngineContext
  readonly #committer: DecisionCommitter
  readonly #engine: RunnerContext
  /** Sessions with a scheduled observation: their agent outlives its shim, or their shim has not started yet. */
  readonly #scheduled = new Set<string>()
  /** Attempts with an open pane, and the monotonic time since which the runner waits for them. */
  readonly #awaitedPanes = new Map<string, { readonly attempt: number; readonly since: Duration }>()

  readonly #unfinished = new UnfinishedLines()
  /** The effect that the runner performs for a session, or that has just failed. */
  readonly #performing = new Map<string, Effect>()

  constructor(context: EngineContext, committer: DecisionCommitter, engine: RunnerContext) {
    this.#context = context
    this.#committer = committer
    this.#engine = engine
  }

  /** Records the news from the runtime. Returns true when there were any, because more may follow. */
  observeOnce(id: SessionId, isSwept = false): boolean {
    const { store, runtime } = this.#context
    const session = store.load(id)
    const { name } = session?.phase ?? { name: 'ended' }
    if (session === undefined || name === 'ended' || name === 'resting') {
      this.#clearMailbox(id, session?.attempt.number)
      return false
    }
    const agent = this.#agentOf(session)
    if (agent.readLine !== undefined && session.attempt.exit === null) runtime.watchOutput(attemptRef(session), true)
    const observed = observeAttempt(session, this.sessionContext(session), {
      isSwept,
      awaited: this.#awaitedFor(session),
      unfinished: this.#unfinished,
    })
    const isNews = this.#committer.decideAndCommit(id, observed.signals, observed)
    if (observed.signals.length > 0) this.#clearMailbox(id, session.attempt.number)
    if (!observed.isAwaited) this.#awaitedPanes.delete(id)
    if (observed.isAdopted || observed.isAwaited) this.#observeLater(id)
    return isNews
  }

  /** Returns the time spent waiting for the attempt's pane. Each supervisor counts from zero. */
  #awaitedFor({ spec, attempt: { number: attempt } }: Session): Duration {
    const now = this.#context.clock.monotonic()
    const known = this.#awaitedPanes.get(spec.id)
    if (known?.attempt === attempt) return now - known.since
    this.#awaitedPanes.set(spec.id, { attempt, since: now })
    return 0
  }

  #observeLater(id: SessionId): void {
    if (this.#scheduled.has(id)) return
    this.#scheduled.add(id)
    const { clock } = this.#context
    clock.schedule(clock.now() + OBSERVE_DELAY, () => {
      this.#scheduled.delete(id)
      this.#engine.observe(id)
    })
  }

  /**
   * Removes the mailbox entries of the attempt. No news is lost: the next observation begins after the removal and
   * finds any change that an entry announced meanwhile.
   */
  #clearMailbox(sessionId: SessionId, attempt = Infinity): void {
    this.#context.store.assertEpoch()
    this.#context.runtime.acknowledge({ sessionId, attempt })
  }

  /** Performs the pending effects in order, and decides on the signals that result from them. */
  async performPending(id: SessionId): Promise<void> {
    const { store } = this.#context
    for (
      let item = store.pendingEffects(id)[0];
      item !== undefined && !this.#engine.isShutDown();
      item = store.pendingEffects(id)[0]
    ) {
      store.assertEpoch()
      const session = store.load(id)
      invariant(session !== undefined, `effect ${item.key} belongs to session ${id}, which is not there`)
      this.#performing.set(id, item.effect)
      const learned = await performEffect(item.effect, session, this.sessionContext(session))
      if (learned.length > 0) {
        // Reads the last output before the runner concludes anything from the end.
        while (this.observeOnce(id, learned.some(isGone)));
        this.#committer.decideAndCommit(id, [...this.#readFinalThread(learned, id), ...learned])
      }
      store.settleEffect(item.key)
      this.#performing.delete(id)
    }
  }

  /** Names the action on a session that has just failed with this error. */
  describeFailure(id: SessionId, cause: unknown): string {
    const effect = this.#performing.get(id)
    this.#performing.delete(id)
    if (effect !== undefined) return describeEffect(effect)
    return cause instanceof Trouble ? cause.doing : 'observing the session'
  }

  /** Reads the agent's own record before the runner concludes that nothing of the attempt is left. */
  #readFinalThread(learned: readonly Signal[], id: SessionId): Signal[] {
    const session = this.#context.store.load(id)
    const gone = learned.find(isGone)
    if (session === undefined || gone?.attempt !== session.attempt.number) return []
    return checkFinalThread(session, this.sessionContext(session), gone.at)
  }

  sessionContext(session: Session): SessionContext {
    const { runtime, clock, tracker, store } = this.#context
    const { id, cwd, supervision } = session.spec
    const { beads = false } = supervision
    const isForeign = (thread: ThreadId): boolean => store.isThreadUsed(thread, { except: id })
    const { saveBeforeStart, gitSummary } = this.#engine
    const isTracked = (): boolean => beads && tracker.findRoot({ cwd, env: runtime.readEnvironment(id) }) !== null
    return { work: runtime, clock, agent: this.#agentOf(session), isForeign, isTracked, saveBeforeStart, gitSummary }
  }

  #agentOf(session: Session): Agent {
    return this.#context.agents(session.spec.agent)
  }
}

function isGone(signal: Signal): signal is Extract<Signal, { type: 'tree.gone' }> {
  return signal.type === 'tree.gone'
}
