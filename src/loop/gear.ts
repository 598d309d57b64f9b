import type { Loop } from '../core/loop/loop.ts'
import type { LoopSignal } from '../core/loop/signals.ts'
import type { LoopSpec } from '../core/loop/spec.ts'
import type { Instant } from '../lib/time.ts'
import type { Checks } from '../ports/checks.ts'
import type { TaskSource } from '../ports/task-source.ts'
import type { Workshop } from '../ports/workshop.ts'
import type { Home } from '../world/os/home.ts'
import type { Audit } from './audit/audit.ts'
import type { CheckoutWatch } from './audit/checkout-watch.ts'
import type { RefWatch } from './audit/ref-watch.ts'
import type { Hands } from './hands.ts'
import type { Layout } from './layout.ts'

/** The loop's own session. */
export interface Self {
  readonly id: string
  readonly name: string
  readonly task: string
  readonly cwd: string
  /** What it was asked for: the idea, for one that plans. */
  readonly prompt: string
}

/** All that a loop works with. */
export interface Gear {
  readonly self: Self
  readonly home: Home
  readonly spec: LoopSpec
  /** What its workers and checks are given. */
  readonly env: Readonly<Record<string, string>>
  readonly source: TaskSource
  /** What is the list's own: changing it is no work, and nobody's to merge. */
  readonly apart: readonly string[]
  readonly workshop: Workshop
  readonly checks: Checks
  readonly hands: Hands
  readonly audit: Audit
  readonly watch: CheckoutWatch
  readonly refs: RefWatch
  readonly layout: Layout
  /** Where checks leave what they say. */
  readonly logs: string
  readonly now: () => Instant
}

export interface LoopView {
  readonly gear: Gear
  /** As it is at this moment. */
  readonly loop: () => Loop
}

/** What a deed sees of the loop while it is at it. */
export interface Desk extends LoopView {
  readonly report: (signal: WithoutTime<LoopSignal>) => void
  readonly ending: AbortSignal
}

type WithoutTime<S> = S extends unknown ? Omit<S, 'at'> : never
