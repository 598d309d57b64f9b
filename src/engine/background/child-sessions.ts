import type { Session } from '../../core/session/session.ts'
import type { Store } from '../../ports/store.ts'

/** Ends what a session has started when it is to end itself: nothing of it goes on unseen. */
export class ChildSessions {
  readonly #store: Store
  readonly #stop: (id: string, by: string | undefined) => void

  constructor(store: Store, stop: (id: string, by: string | undefined) => void) {
    this.#store = store
    this.#stop = stop
  }

  /** Takes up what a supervisor before us did not live to do. */
  start(): void {
    const parents = new Set(
      this.#store.live().flatMap(({ spec }) => (spec.parent === undefined ? [] : [spec.parent.id])),
    )
    for (const id of parents) {
      const parent = this.#store.load(id)
      if (parent === undefined || isEnding(parent)) this.#stopChildren(id)
    }
  }

  /** Told of each session as it is now. */
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
