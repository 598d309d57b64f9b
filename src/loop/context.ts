import type { Loop } from '../core/loop/loop.ts'
import type { LoopSignal } from '../core/loop/signals.ts'
import type { LoopSpec } from '../core/loop/spec.ts'
import type { Instant } from '../lib/time.ts'
import type { Checks } from '../ports/checks.ts'
import type { TaskSource } from '../ports/task-source.ts'
import type { Worktrees } from '../ports/worktrees.ts'
import type { Home } from '../state/home.ts'
import { Audit } from './audit/audit.ts'
import { CheckoutWatch } from './audit/checkout-watch.ts'
import { RefWatch } from './audit/ref-watch.ts'
import { Workers } from './workers.ts'
import { WorktreePaths } from './worktree-paths.ts'
import fs from 'node:fs'
import path from 'node:path'
import { systemClock } from '../os/system-clock.ts'
import { projectChecks } from '../world/checks/project-checks.ts'
import { gitWorktrees } from '../world/git/worktrees/git-worktrees.ts'
import { beadsTaskSource } from '../world/task-list/beads-source.ts'
import { fileTaskSource } from '../world/task-list/file-source.ts'
import { findTaskSource } from '../world/task-list/find-source.ts'

/** The loop's own session. */
export interface LoopSession {
  readonly id: string
  readonly name: string
  readonly task: string
  readonly cwd: string
  /** The user's request; for a planning loop, the idea. */
  readonly prompt: string
}

/** All dependencies of a loop. */
export interface LoopContext {
  readonly session: LoopSession
  readonly home: Home
  readonly spec: LoopSpec
  /** The environment of its workers and checks. */
  readonly env: Readonly<Record<string, string>>
  readonly taskSource: TaskSource
  /** Files of the task list: a change to them is no work, and the loop never merges them. */
  readonly excludedPaths: readonly string[]
  readonly worktrees: Worktrees
  readonly checks: Checks
  readonly workers: Workers
  readonly audit: Audit
  readonly checkoutWatch: CheckoutWatch
  readonly refWatch: RefWatch
  readonly paths: WorktreePaths
  /** The folder for the logs of checks. */
  readonly logFolder: string
  readonly now: () => Instant
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

/** Variables of this attempt, which child processes must not inherit. */
const OWN_VARIABLES = new Set(['ONESHOT_ATTEMPT', 'ONESHOT_SESSION'])

/** Creates a loop's drivers and its context. */
export async function createLoopContext(given: {
  home: Home
  spec: LoopSpec
  logs: string
  self: LoopSession
}): Promise<LoopContext> {
  const { home, spec, logs, self } = given
  const env = workerEnvironment()
  const worktrees = gitWorktrees({ env })
  const taskSource = await chooseTaskSource(spec.list, self.cwd, env)
  const top = (await worktrees.inspect(self.cwd))?.top ?? self.cwd
  const paths = new WorktreePaths(self, top)
  const excludedPaths = [taskSource.file ?? '.beads']
  const own = { inner: paths.subfolder, apart: excludedPaths.map(file => paths.fromTop(file)) }
  const audit = new Audit({ workshop: worktrees, cwd: self.cwd, id: self.id, ...own })
  return {
    session: self,
    home,
    spec,
    env,
    taskSource,
    excludedPaths,
    worktrees,
    checks: projectChecks(env),
    workers: new Workers(home, self.id),
    paths,
    audit,
    refWatch: new RefWatch({ workshop: worktrees, cwd: self.cwd, id: self.id }),
    checkoutWatch: new CheckoutWatch({ workshop: worktrees, audit, cwd: self.cwd, top }),
    logFolder: logs,
    now: () => systemClock.now(),
  }
}

/** A planning loop writes its list as Markdown boxes. */
async function chooseTaskSource(
  list: string | null,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<TaskSource> {
  if (list === null) return beadsTaskSource(env)
  return fs.existsSync(path.resolve(cwd, list)) ? findTaskSource({ cwd, env }, list) : fileTaskSource('markdown', list)
}

function workerEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env)
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => entry[1] !== undefined && !OWN_VARIABLES.has(entry[0])),
  )
}
