import type { SessionId } from '../../core/session/session-id-and-name.ts'
import type { Session } from '../../core/session/session-state.ts'
import type { Job } from '../../lib/keyed-jobs.ts'
import type { RetryPolicy } from '../../lib/retry-policy.ts'
import type { EngineContext } from '../context.ts'
import { Reconciler } from './reconciler.ts'

const RETRY: RetryPolicy = { firstPause: 5_000, maxPause: 60_000 }

/** Stops the children of a session that ends, so that no child continues unnoticed. The subjects are the children. */
export class ChildSessions {
  readonly #context: Pick<EngineContext, 'clock' | 'store' | 'timings' | 'onTrouble'>
  readonly #stop: (id: SessionId, by: string | undefined) => Promise<void>
  readonly #reconciler: Reconciler<Session>

  constructor(
    context: Pick<EngineContext, 'clock' | 'store' | 'timings' | 'onTrouble'>,
    stop: (id: SessionId, by: string | undefined) => Promise<void>,
  ) {
    this.#context = context
    this.#stop = stop
    this.#reconciler = new Reconciler(context, {
      find: id => context.store.load(id),
      wanted: child => this.#wanted(child),
    })
  }

  /** Stops the children that an earlier supervisor did not stop before its end. */
  start(): void {
    for (const child of this.#context.store.live()) this.#reconciler.update(child.spec.id, child)
  }

  /** The engine calls this with the current session after each change. */
  onSessionChanged(session: Session): void {
    if (!isEnding(session)) return
    for (const child of this.#context.store.live())
      if (child.spec.parent?.id === session.spec.id) this.#reconciler.update(child.spec.id, child)
  }

  stop(): Promise<void> {
    return this.#reconciler.stop()
  }

  #wanted({ spec, phase, wanted }: Session): Job[] {
    if (spec.parent === undefined || phase.name === 'ended' || wanted === 'stop') return []
    const parent = this.#context.store.load(spec.parent.id)
    if (parent !== undefined && !isEnding(parent)) return []
    return [{ key: 'stop', retry: RETRY, run: () => this.#stop(spec.id, parent?.spec.name) }]
  }
}

function isEnding({ phase, wanted }: Session): boolean {
  return phase.name === 'ended' || wanted === 'stop'
}
