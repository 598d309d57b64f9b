import type { Duration } from '../../lib/time.ts'
import type { SupervisionRequest } from '../session/supervision.ts'

/** The user's request for a loop. It never changes. */
export interface LoopSpec {
  /** The list of tasks, relative to the folder of the request; null for the project's task tracker. */
  readonly list: string | null
  /** The options of the workers: as for `run`. */
  readonly worker: WorkerOptions
  /**
   * The check that a project must pass for a task to be done: a shell command line, and the reason for this choice.
   * Null: the loop runs no check.
   */
  readonly check: { readonly line: string; readonly why: string } | null
  readonly checkLimit: Duration
  /** Without a check: the loop searches for one each time, because the project may have got tests meanwhile. */
  readonly seek?: true
  /**
   * Path patterns, from the folder of the request: nobody may change the files of `protect`, and an agent may weaken
   * those of `allow`.
   */
  readonly guard?: { readonly protect: readonly string[]; readonly allow: readonly string[] }
  /** A shell command line that prepares a fresh worktree. */
  readonly setup: string | null
  /**
   * The number of tasks at a time, each in a worktree of its own; null: one after the other, in the user's checkout.
   */
  readonly parallel: number | null
  /** The time between two starts. */
  readonly stagger: Duration
  /** The limit of all iterations together; null for no limit. */
  readonly maxIterations: number | null
  /** The number of tasks added by agents that the loop starts before a person resumes it. Absent: the default. */
  readonly maxAdded?: number
  /** This many equal failures in a row block a task. */
  readonly retries: number
  /** Restricts the loop to the task with this label. */
  readonly only: string | null
  /** True lands the work in the user's branch at the end. */
  readonly land: boolean
  /** The way to plan the tasks for an idea, which is the session's prompt. */
  readonly plan: PlanMode
}

/**
 * `none`: the list exists. `only`: the user wants only the plan. `first`: a person reviews the plan before the work
 * starts. `on`: the work follows at once.
 */
export type PlanMode = 'none' | 'only' | 'first' | 'on'

export interface WorkerOptions {
  readonly agent: string
  readonly argv: readonly string[]
  readonly model: string | null
  readonly effort: string | null
  readonly autonomy: 'full' | 'edits' | 'ask'
  /** The supervision of each iteration. */
  readonly supervision: SupervisionRequest
}

/** The options of a worker as version 0.1.0 wrote them. */
interface Version1Worker extends Omit<WorkerOptions, 'supervision'> {
  readonly maxTime: SupervisionRequest['maxTime']
  readonly limits: NonNullable<SupervisionRequest['limits']>
  readonly care?: Omit<SupervisionRequest, 'maxTime' | 'limits'>
}

/**
 * Reads the request of a loop, which is the last argument of its session. Throws if that argument is no request: its
 * program must not start with an invented one.
 */
export function parseLoopSpec(argv: readonly string[]): LoopSpec {
  const fields = parseFields(argv)
  const worker = Object(fields['worker']) as Record<string, unknown>
  if (typeof worker['agent'] !== 'string' || !Array.isArray(worker['argv']))
    throw new Error('the last argument of this session is not the request of a loop')
  return upgradeLoopSpec(fields as unknown as LoopSpec)
}

/** Returns the list and the parallelism that a loop's session was started with; null for an argument without them. */
export function parseLoopPlace(argv: readonly string[]): Pick<LoopSpec, 'list' | 'parallel'> {
  const { list, parallel } = parseFields(argv)
  return {
    list: typeof list === 'string' ? list : null,
    parallel: typeof parallel === 'number' ? parallel : null,
  }
}

function parseFields(argv: readonly string[]): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(argv.at(-1) ?? '')) as Record<string, unknown>
  } catch {
    return {} // The caller reports the missing fields.
  }
}

/** Upgrades the request of a loop to the present version. */
function upgradeLoopSpec(written: LoopSpec | (Omit<LoopSpec, 'worker'> & { worker: Version1Worker })): LoopSpec {
  if ('supervision' in written.worker) return { ...written, worker: written.worker }
  const { maxTime, limits, care, ...worker } = written.worker
  return { ...written, worker: { ...worker, supervision: { maxTime, limits, projectFiles: false, ...care } } }
}
