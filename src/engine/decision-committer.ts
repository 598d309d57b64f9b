import type { SessionId } from '../core/session/session-id-and-name.ts'
import { decide } from '../core/session/decision-table.ts'
import { hooksOf } from '../core/notify/notice.ts'
import { noticesOf } from '../core/notify/notice.ts'
import { withAttempt, type ParserState } from '../core/session/attempt.ts'
import type { Session } from '../core/session/session-state.ts'
import type { Signal } from '../core/session/signals.ts'
import { isUnchanged, type Decision, makeDecision } from '../core/session/decision.ts'
import { isDiskFull } from '../lib/errors.ts'
import type { Outgoing } from '../ports/notifications.ts'
import { statusLine } from '../core/describe/status-line.ts'
import { transcriptNote } from '../core/describe/transcript-notes.ts'
import type { EngineContext } from './context.ts'

/** The part of an attempt's output that led to a decision. */
export interface ReadOutput {
  readonly output: number
  readonly memory: ParserState
  readonly text: string
}

/** Turns signals into recorded decisions, and notifies its listeners of each. */
export class DecisionCommitter {
  readonly #context: Pick<EngineContext, 'store' | 'runtime' | 'agents' | 'checkpoints' | 'timings' | 'onEvent'>
  readonly #listeners = new Set<(session: Session, outgoing: Outgoing) => void>()

  constructor(context: Pick<EngineContext, 'store' | 'runtime' | 'agents' | 'checkpoints' | 'timings' | 'onEvent'>) {
    this.#context = context
  }

  onCommit(listener: (session: Session, outgoing: Outgoing) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Decides on these signals in order, and records the result in one step. Returns false when nothing changed. */
  decideAndCommit(id: SessionId, signals: readonly Signal[], read?: ReadOutput): boolean {
    const before = this.#context.store.load(id)
    if (before === undefined) return false
    const total = this.#decideAll(before, signals)
    const isUnread = read === undefined || read.output === before.attempt.position.output
    if (isUnchanged(total, before) && isUnread) return false
    // The engine reads a new attempt's output from its start, so only the attempt that it has read keeps the new
    // offset.
    const isSameAttempt = total.session.attempt.number === before.attempt.number
    const session =
      read !== undefined && isSameAttempt
        ? withAttempt(total.session, { position: { output: read.output, parserState: read.memory } })
        : total.session
    this.commit({ ...total, session }, read?.text)
    return true
  }

  #decideAll(before: Session, signals: readonly Signal[]): Decision {
    return signals.reduce(
      (total, signal) => {
        const { session, events, effects } = decide(total.session, signal, this.#context.timings)
        return makeDecision(session, [...total.events, ...events], [...total.effects, ...effects])
      },
      makeDecision(before, []),
    )
  }

  /** Drops a checkpoint request if the session's folder is not in a repository. */
  #withoutImpossibleRequest(session: Session): Session {
    const { saved, spec } = session
    if (saved.wanted === null || this.#context.checkpoints.isRepository(spec.cwd)) return session
    return { ...session, saved: { ...saved, wanted: null } }
  }

  /**
   * Writes the transcript before the record, and first cuts it to the recorded length: after a crash, the next
   * supervisor writes the same bytes again.
   */
  commit(decision: Decision, transcriptText = ''): void {
    const { runtime, store, agents } = this.#context
    const { session } = decision
    const hasTranscript = agents(session.spec.agent).readLine !== undefined
    const text =
      transcriptText + (hasTranscript ? decision.events.map(event => transcriptNote(event) ?? '').join('') : '')
    store.assertEpoch() // Only the supervisor that holds the epoch may write the transcript.
    const transcriptLength = text === '' ? session.transcriptLength : this.#writeTranscript(session, text)
    const recorded = this.#withoutImpossibleRequest({ ...session, transcriptLength })
    const outgoing = { notices: noticesOf(recorded, decision.events), hooks: hooksOf(recorded, decision.events) }
    store.record({ ...decision, session: recorded }, outgoing)
    if (recorded.phase.name !== 'ended') runtime.setStatusLine(recorded.spec.id, statusLine(recorded))
    for (const event of decision.events) this.#context.onEvent?.(recorded, event)
    for (const listener of this.#listeners) listener(recorded, outgoing)
  }

  /**
   * A full disk delays the recording of a running agent's output until there is room. It does not delay an end: then
   * the transcript omits these words, which the agent's own output still contains.
   */
  #writeTranscript({ spec, transcriptLength, phase }: Session, text: string): number {
    try {
      return this.#context.runtime.writeTranscript(spec.id, transcriptLength, text)
    } catch (cause) {
      if (!isDiskFull(cause) || phase.name === 'starting' || phase.name === 'running') throw cause
      return transcriptLength
    }
  }
}
