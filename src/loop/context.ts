import type { Loop } from '../core/loop/loop-state.ts'
import type { LoopSignal } from '../core/loop/signals.ts'
import type { LoopSpec } from '../core/loop/spec.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Checks } from '../ports/checks.ts'
import type { Clock } from '../ports/clock.ts'
import type { ListBackup, TaskSource } from '../ports/task-source.ts'
import type { SerialLoops, Workers } from '../ports/workers.ts'
import type { Worktrees } from '../ports/worktrees.ts'
import { Audit } from './audit/detect-lost-work.ts'
import { CheckoutWatch } from './audit/user-checkout-watch.ts'
import { RefWatch } from './audit/ref-watch.ts'
import { WorktreePaths } from './worktree-paths.ts'

/** The loop's own session. */
export interface LoopSession {
  readonly id: SessionId
  readonly name: string
  readonly task: string
  readonly cwd: string
  /** The user's request; for a planning loop, the idea. */
  readonly prompt: string
}

/** The outside of a loop. */
export interface LoopPorts {
  readonly clock: Clock
  readonly taskSource: TaskSource
  readonly listBackup: ListBackup
  readonly worktrees: Worktrees
  readonly checks: Checks
  readonly workers: Workers
  readonly serialLoops: SerialLoops
}

interface LoopSettings {
  readonly session: LoopSession
  readonly spec: LoopSpec
  /** The environment of its workers and checks. */
  readonly env: Readonly<Record<string, string>>
  /** The folder for the logs of checks. */
  readonly logFolder: string
}

/** All dependencies of a loop. */
export interface LoopContext extends LoopPorts, LoopSettings {
  /** Files of the task list: a change to them is no work, and the loop never merges them. */
  readonly excludedPaths: readonly string[]
  readonly audit: Audit
  readonly checkoutWatch: CheckoutWatch
  readonly refWatch: RefWatch
  readonly paths: WorktreePaths
}

export interface LoopView {
  readonly context: LoopContext
  /** Returns the current state. */
  readonly loop: () => Loop
}

/** The state and the callbacks of a running effect. */
export interface EffectRun extends LoopView {
  readonly report: (signal: WithoutTime<LoopSignal>) => void
  readonly ending: AbortSignal
}

type WithoutTime<S> = S extends unknown ? Omit<S, 'at'> : never

export async function createLoopContext(ports: LoopPorts, settings: LoopSettings): Promise<LoopContext> {
  const { worktrees, taskSource } = ports
  const { cwd, id } = settings.session
  const top = (await worktrees.inspect(cwd))?.top ?? cwd
  const paths = new WorktreePaths(settings.session, top)
  const excludedPaths = [taskSource.file ?? '.beads']
  const own = { inner: paths.subfolder, apart: excludedPaths.map(file => paths.fromTop(file)) }
  const audit = new Audit({ worktrees, cwd, id, ...own })
  return {
    ...ports,
    ...settings,
    excludedPaths,
    paths,
    audit,
    refWatch: new RefWatch({ worktrees, cwd, id }),
    checkoutWatch: new CheckoutWatch({ worktrees, audit, cwd, top }),
  }
}
