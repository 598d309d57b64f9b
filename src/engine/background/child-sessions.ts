import type { Session } from '../../core/session/session.ts'
import type { Store } from '../../ports/store.ts'

/** Stops the children of a session that ends, so that no child continues unnoticed. */
export class ChildSessions {
  readonly #store: Store
  readonly #stop: (id: string, by: string | undefined) => void

  constructor(store: Store, stop: (id: string, by: string | undefined) => void) {
    this.#store = store
    this.#stop = stop
  }

  /** Stops the children that an earlier supervisor did not stop before its end. */
  start(): void {
    const parents = new Set(
      this.#store.live().flatMap(({ spec }) => (spec.parent === undefined ? [] : [spec.parent.id])),
    )
    for (const id of parents) {
      const parent = this.#store.load(id)
      if (parent === undefined || isEnding(parent)) this.#stopChildren(id)
    }
  }

  /** The engine calls this with the current session after each change. */
  onSessionChanged(session: Session): void {
    if (isEnding(session)) this.#stopChildren(session.spec.id)
  }

  #stopChildren(id: string): void {
    const name = this.#store.load(id)?.spec.name
    for (const child of this.#store.live()) {
      if (child.spec.parent?.id === id && child.wanted !== 'stop') this.#stop(child.spec.id, name)
    }
  }
}

function isEnding({ phase, wanted }: Session): boolean {
  return phase.name === 'ended' || wanted === 'stop'
}
