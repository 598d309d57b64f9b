import type { Config } from '../../api/config/load-config.ts'
import type { LoopRequest } from '../../api/contract/loop-request.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { RunRequest } from '../../api/contract/requests.ts'
import type { Duration } from '../../lib/time.ts'
import type { Line } from '../line/line.ts'
import { OPTIONS } from '../table/options.ts'
import { guardedPaths } from './guarded-paths.ts'

/** Whole test suites are run, side by side with agents who run them as well. */
const CHECK_LIMIT: Duration = 30 * 60_000
/** Agents that begin in the same instant meet the same limits and locks in the same instant. */
const STAGGER: Duration = 500
/** Once may be bad luck and twice a misunderstanding. */
const RETRIES = 3

/** Our own program costs nothing to start again, and those who work for it go on meanwhile. */
const RESTART = { limit: 20, nextDelay: 500, maxDelay: 10_000 } as const

/** What is different from loop to loop beyond its line. */
export interface Plan {
  readonly kind: 'ralph' | 'build'
  readonly list: string | null
  readonly check: LoopRequest['check']
  readonly planning: LoopRequest['plan']
  /** The session's name unless one was given; absent: made from its prompt. */
  readonly name?: string
}

/**
 * What the daemon is asked for, made of what it would be asked for an agent with this prompt: how an agent is to work is for those who work for the
 * loop, time and money are for all of it.
 */
export function loopRequest(asked: RunRequest, line: Line, config: Config, plan: Plan): RunRequest {
  const { prompt = '', cwd, env, saving, onExit, alertAfter, projectFiles, limits, beads } = asked
  const name = asked.name ?? plan.name
  const { usd, tokens } = limits ?? {}
  const absence = asked.patience?.absence
  return {
    agent: plan.kind,
    argv: [JSON.stringify(loopSpec(asked, line, config, plan))],
    prompt,
    ...(name !== undefined && { name }),
    ...(name !== undefined && asked.name === undefined && { isNameMadeUp: true }),
    cwd,
    env,
    mode: 'headless',
    maxTime: line.value(OPTIONS.wholeTime) ?? null,
    restart: RESTART,
    limits: { ...(usd !== undefined && { usd }), ...(tokens !== undefined && { tokens }) },
    ...(absence !== undefined && { patience: { absence } }),
    ...(saving !== undefined && { saving }),
    ...(alertAfter !== undefined && { alertAfter }),
    ...(onExit !== undefined && { onExit }),
    ...(projectFiles !== undefined && { projectFiles }),
    ...(beads !== undefined && { beads }),
  }
}

function loopSpec(asked: RunRequest, line: Line, config: Config, plan: Plan): LoopRequest {
  const parallel = line.value(OPTIONS.parallel) ?? null
  // What is found later is the agent's own, and is run only where the agent may run anything.
  const isSought = plan.check === null && !line.has(OPTIONS.noVerify) && (asked.autonomy ?? 'full') === 'full'
  return {
    list: plan.list,
    worker: workerOf(asked, config),
    check: plan.check,
    checkLimit: line.value(OPTIONS.checkLimit) ?? CHECK_LIMIT,
    ...(isSought && { seek: true }),
    ...(line.has(OPTIONS.protect) || line.has(OPTIONS.allow) ? { guard: guardedPaths(line, asked.cwd) } : {}),
    setup: line.value(OPTIONS.setup) ?? null,
    parallel,
    stagger: STAGGER,
    maxIterations: line.has(OPTIONS.once) ? 1 : (line.value(OPTIONS.maxIterations) ?? null),
    ...(line.has(OPTIONS.maxAdded) && { maxAdded: line.value(OPTIONS.maxAdded) ?? 0 }),
    retries: line.value(OPTIONS.retries) ?? RETRIES,
    only: line.value(OPTIONS.task) ?? null,
    land: line.has(OPTIONS.land),
    plan: plan.planning,
  }
}

function workerOf(asked: RunRequest, config: Config): LoopRequest['worker'] {
  const { agent, argv, model, effort, autonomy, limits } = asked
  const { restart, patience, memory, maxOutput, saving, alertAfter, beads } = asked
  return {
    agent,
    argv,
    model: model ?? null,
    effort: effort ?? null,
    autonomy: autonomy ?? 'full',
    maxTime: config['max-time'].value,
    limits: { usd: null, tokens: null, turns: limits?.turns ?? null },
    care: {
      ...(restart !== undefined && { restart }),
      ...(patience !== undefined && { patience }),
      ...(memory !== undefined && { memory }),
      ...(maxOutput !== undefined && { maxOutput }),
      ...(saving !== undefined && { saving }),
      ...(alertAfter !== undefined && { alertAfter }),
      ...(beads !== undefined && { beads }),
    },
  }
}

/** Refuses a line that says two things, or one that would do nothing. */
export function checkLoopLine(line: Line): void {
  const exclude = (one: keyof typeof OPTIONS, other: keyof typeof OPTIONS): void => {
    if (!line.has(OPTIONS[one]) || !line.has(OPTIONS[other])) return
    const names = `--${OPTIONS[one].name} and --${OPTIONS[other].name}`
    throw refusal('usage', `${names} exclude each other`, 'give one of them')
  }
  exclude('verify', 'noVerify')
  exclude('once', 'maxIterations')
  for (const option of [OPTIONS.land, OPTIONS.setup]) {
    if (line.has(option) && !line.has(OPTIONS.parallel))
      throw refusal('usage', `--${option.name} needs worktrees: add --parallel`, 'add --parallel')
  }
}
