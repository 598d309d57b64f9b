import {
  amount,
  boolean,
  count,
  fields,
  listOf,
  nullable,
  object,
  oneOf,
  optional,
  type Parser,
  parseJson,
  string,
  tryParseJson,
  withDefault,
} from '../../lib/codec.ts'
import { errorMessage } from '../../lib/errors.ts'
import type { Duration } from '../../lib/time.ts'
import type { SupervisionRequest } from '../session/supervision-options.ts'

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
  readonly detectCheckEachTime?: true
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

/**
 * Reads the request of a loop, which is the last argument of its session. Throws if that argument is no request: its
 * program must not start with an invented one.
 */
export function parseLoopSpec(argv: readonly string[]): LoopSpec {
  try {
    return parseJson(argv.at(-1) ?? '', parseSpec)
  } catch (cause) {
    throw new Error(`the last argument of this session is not the request of a loop: ${errorMessage(cause)}`, { cause })
  }
}

/** Returns the list and the parallelism that a loop's session was started with; null for an argument without them. */
export function parseLoopPlace(argv: readonly string[]): Pick<LoopSpec, 'list' | 'parallel'> {
  return tryParseJson(argv.at(-1) ?? '', parsePlace) ?? { list: null, parallel: null }
}

const parsePlace = object({ list: withDefault(nullable(string), null), parallel: withDefault(nullable(count), null) })

/** The supervisor checks the supervision with its own parser, when it accepts a worker. */
function parseSupervision(value: unknown): SupervisionRequest {
  return fields(value) as unknown as SupervisionRequest
}

const workerFields = {
  agent: string,
  argv: listOf(string),
  model: nullable(string),
  effort: nullable(string),
  autonomy: oneOf('full', 'edits', 'ask'),
}

/** Version 0.1.0 wrote the parts of the supervision as fields of the worker. */
const parseVersion1Worker = object({
  ...workerFields,
  maxTime: nullable(amount),
  limits: fields,
  care: withDefault(fields, {}),
})

const parsePresentWorker: Parser<WorkerOptions> = object({ ...workerFields, supervision: parseSupervision })

function parseWorker(value: unknown): WorkerOptions {
  if ('supervision' in fields(value)) return parsePresentWorker(value)
  const { maxTime, limits, care, ...worker } = parseVersion1Worker(value)
  return { ...worker, supervision: parseSupervision({ maxTime, limits, projectFiles: false, ...care }) }
}

const specFields = {
  list: nullable(string),
  worker: parseWorker,
  check: nullable(object({ line: string, why: string })),
  checkLimit: amount,
  detectCheckEachTime: optional(oneOf(true)),
  guard: optional(object({ protect: listOf(string), allow: listOf(string) })),
  setup: nullable(string),
  parallel: nullable(count),
  stagger: amount,
  maxIterations: nullable(count),
  maxAdded: optional(count),
  retries: count,
  only: nullable(string),
  land: boolean,
  plan: oneOf('none', 'only', 'first', 'on'),
}

const parsePresentSpec: Parser<LoopSpec> = object(specFields)

/** Reads a request of any version. Version 0.1.0 called `detectCheckEachTime` `seek`. */
export function parseSpec(value: unknown): LoopSpec {
  const { seek, ...written } = fields(value)
  return parsePresentSpec(seek === undefined ? written : { ...written, detectCheckEachTime: seek })
}
