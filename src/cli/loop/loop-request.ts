import type { Config } from '../../api/config/load-config.ts'
import type { LoopRequest } from '../../api/contract/loop-view.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { RunRequest } from '../../api/contract/run-request.ts'
import type { Duration } from '../../lib/time.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import type { Option } from '../args/command-definition.ts'
import { OPTIONS } from '../args/options.ts'
import { RUN_OPTION_LIST, type RunOption } from '../args/run-options.ts'
import { parseGuardedPaths } from './loop-options.ts'

type Supervision = RunRequest['supervision']

/** A check runs whole test suites, in parallel with agents that run them as well. */
const CHECK_TIMEOUT: Duration = 30 * 60_000
/** In milliseconds. Agents that start at the same time hit the same limits and locks at the same time. */
const START_STAGGER: Duration = 500
/** One failure may be bad luck, and two a misunderstanding. */
const DEFAULT_RETRIES = 3

/** Delays in milliseconds. A restart of our own program costs nothing, and its workers continue meanwhile. */
const LOOP_RESTART_POLICY = { limit: 20, nextDelay: 500, maxDelay: 10_000 } as const

/** Options of the loop's workers, those of the agent first. */
export const WORKER_OPTIONS: readonly Option<unknown>[] = [
  ...new Set<Option<unknown>>([
    OPTIONS.agent,
    OPTIONS.model,
    OPTIONS.effort,
    OPTIONS.autonomy,
    OPTIONS.maxTurns,
    ...optionsInLoop('iteration', 'both'),
  ]),
]

/** Options of the loop as a whole. */
export const LOOP_OPTIONS: readonly Option<unknown>[] = [
  OPTIONS.prd,
  OPTIONS.verify,
  OPTIONS.noVerify,
  OPTIONS.checkLimit,
  OPTIONS.protect,
  OPTIONS.allow,
  OPTIONS.setup,
  OPTIONS.retries,
  OPTIONS.maxIterations,
  OPTIONS.maxAdded,
  OPTIONS.parallel,
  OPTIONS.land,
  OPTIONS.name,
  OPTIONS.cwd,
  OPTIONS.env,
  OPTIONS.loopMaxTime,
  ...optionsInLoop('loop'),
  OPTIONS.follow,
  OPTIONS.json,
]

/** The differences between loops that are not on their command lines. */
export interface LoopOptions {
  readonly kind: 'ralph' | 'build'
  readonly list: string | null
  readonly check: LoopRequest['check']
  readonly planning: LoopRequest['plan']
  /** The session's name unless the line gives one; if absent, the prompt gives the name. */
  readonly name?: string
}

/**
 * Builds the request to the daemon from the request for an agent with this prompt: the agent options apply to the
 * workers, time and money to the whole loop.
 */
export function buildLoopRequest(base: RunRequest, args: ParsedArgs, config: Config, options: LoopOptions): RunRequest {
  const { prompt = '', cwd, env, supervision } = base
  // The loop has a check of its own for each task.
  const { verify: _, ...own } = withoutOptions(supervision, 'iteration')
  const name = base.name ?? options.name
  return {
    agent: options.kind,
    argv: [JSON.stringify(buildLoopSpec(base, args, config, options))],
    prompt,
    ...(name !== undefined && { name }),
    ...(name !== undefined && base.name === undefined && { isNameMadeUp: true }),
    cwd,
    env,
    mode: 'headless',
    supervision: {
      ...own,
      maxTime: args.value(OPTIONS.loopMaxTime) ?? null,
      restart: LOOP_RESTART_POLICY,
      limits: { ...own.limits },
    },
  }
}

function buildLoopSpec(base: RunRequest, args: ParsedArgs, config: Config, options: LoopOptions): LoopRequest {
  const parallel = args.value(OPTIONS.parallel) ?? null
  // A check that the loop finds later is the agent's own, so the loop runs it only if the agent may run anything.
  const shouldDetectCheck =
    options.check === null && !args.has(OPTIONS.noVerify) && (base.autonomy ?? 'full') === 'full'
  return {
    list: options.list,
    worker: workerOptions(base, config),
    check: options.check,
    checkLimit: args.value(OPTIONS.checkLimit) ?? CHECK_TIMEOUT,
    ...(shouldDetectCheck && { detectCheckEachTime: true }),
    ...(args.has(OPTIONS.protect) || args.has(OPTIONS.allow) ? { guard: parseGuardedPaths(args, base.cwd) } : {}),
    setup: args.value(OPTIONS.setup) ?? null,
    parallel,
    stagger: START_STAGGER,
    maxIterations: args.has(OPTIONS.once) ? 1 : (args.value(OPTIONS.maxIterations) ?? null),
    ...(args.has(OPTIONS.maxAdded) && { maxAdded: args.value(OPTIONS.maxAdded) ?? 0 }),
    retries: args.value(OPTIONS.retries) ?? DEFAULT_RETRIES,
    only: args.value(OPTIONS.task) ?? null,
    land: args.has(OPTIONS.land),
    plan: options.planning,
  }
}

function workerOptions(base: RunRequest, config: Config): LoopRequest['worker'] {
  const { agent, argv, model, effort, autonomy, supervision } = base
  // The loop ends once and writes the project files; its check is the proof of each task.
  const { onExit: _onExit, verify: _verify, ...own } = withoutOptions(supervision, 'loop')
  return {
    agent,
    argv,
    model: model ?? null,
    effort: effort ?? null,
    autonomy: autonomy ?? 'full',
    supervision: {
      ...own,
      maxTime: config['max-time'].value,
      limits: { usd: null, tokens: null, turns: null, ...own.limits },
      projectFiles: false,
    },
  }
}

function optionsInLoop(...scopes: RunOption<unknown>['inLoop'][]): readonly RunOption<unknown>[] {
  return RUN_OPTION_LIST.filter(({ inLoop }) => inLoop !== undefined && scopes.includes(inLoop))
}

/** Returns the supervision without the fields that apply to each iteration only, or to the loop only. */
function withoutOptions(supervision: Supervision, scope: 'iteration' | 'loop'): Supervision {
  const omitted = new Set<string | undefined>(optionsInLoop(scope).map(({ field }) => field))
  const keep = (fields: object, path: string): object =>
    Object.fromEntries(
      Object.entries(fields)
        .filter(([name]) => !omitted.has(`${path}.${name}`))
        .map(([name, value]: [string, unknown]) => [name, isGroup(value) ? keep(value, `${path}.${name}`) : value]),
    )
  return keep(supervision, 'supervision') as Supervision
}

function isGroup(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Refuses a line with options that exclude each other or have no effect. */
export function checkLoopArgs(args: ParsedArgs): void {
  const exclude = (one: keyof typeof OPTIONS, other: keyof typeof OPTIONS): void => {
    if (!args.has(OPTIONS[one]) || !args.has(OPTIONS[other])) return
    const names = `--${OPTIONS[one].name} and --${OPTIONS[other].name}`
    throw refusal('usage', `${names} exclude each other`, 'give one of them')
  }
  exclude('verify', 'noVerify')
  exclude('once', 'maxIterations')
  for (const option of [OPTIONS.land, OPTIONS.setup]) {
    if (args.has(option) && !args.has(OPTIONS.parallel))
      throw refusal('usage', `--${option.name} needs worktrees: add --parallel`, 'add --parallel')
  }
}
