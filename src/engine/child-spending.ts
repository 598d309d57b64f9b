import { chargeOf } from '../core/authorization/remaining-limits.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Session } from '../core/session/session-state.ts'
import type { Signal } from '../core/session/signals.ts'
import type { ChildrenCharge } from '../core/session/usage.ts'
import type { Clock } from '../ports/clock.ts'
import type { Store } from '../ports/store.ts'

/** Reports to each session with a budget the spending of its child sessions, and the amount reserved for them. */
export class FamilyBudget {
  readonly #world: { readonly store: Store; readonly clock: Clock }
  readonly #report: (id: SessionId, signal: Signal) => void
  /** The last reported spending and end of each child session. */
  readonly #known = new Map<string, string>()

  constructor(
    world: { readonly store: Store; readonly clock: Clock },
    report: (id: SessionId, signal: Signal) => void,
  ) {
    this.#world = world
    this.#report = report
  }

  /** Reports the charges that an earlier supervisor recorded but did not report before its end. */
  start(): void {
    for (const session of this.#world.store.live()) this.#charge(session)
  }

  /** The engine calls this with the current session after each change. */
  follow(session: Session): void {
    const { id, startedBy, agent } = session.spec
    if (startedBy === undefined || agent === 'command') return
    const { before, attempt } = session.spending
    const now = JSON.stringify([before, attempt, session.phase.name === 'ended'])
    if (this.#known.get(id) === now) return
    if (session.phase.name === 'ended') this.#known.delete(id)
    else this.#known.set(id, now)
    const { store } = this.#world
    const seen = new Set([id])
    for (let next: SessionId | undefined = startedBy; next !== undefined && !seen.has(next); ) {
      seen.add(next)
      const owner = store.load(next)
      if (owner === undefined) return
      this.#charge(owner)
      next = owner.spec.startedBy ?? owner.spec.parent?.id
    }
  }

  #charge(owner: Session): void {
    if (!hasLimits(owner)) return
    const charge = chargeOf(owner, this.#world.store.family(owner.spec.id))
    if (isSame(charge, owner.spending.children)) return
    this.#report(owner.spec.id, { at: this.#world.clock.now(), type: 'children.charged', charge })
  }
}

function hasLimits({
  spec: {
    supervision: { limits },
  },
}: Session): boolean {
  return limits.usd !== null || limits.tokens !== null || limits.turns !== null
}

function isSame(a: ChildrenCharge, b: ChildrenCharge | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
