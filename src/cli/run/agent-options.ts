import type { Config } from '../../api/config/load-config.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { RunRequest } from '../../api/contract/run-request.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import type { Option } from '../args/command.ts'
import { OPTIONS } from '../args/options.ts'
import { AGENT_KINDS, AGENT_PROGRAMS, installCommand } from '../../api/contract/known-agents.ts'
import { didYouMean } from '../../lib/text/did-you-mean.ts'
import type { Refusal } from '../../lib/errors.ts'

type AgentOptions = Pick<RunRequest, 'autonomy' | 'model' | 'effort' | 'thread'>

/** Options that apply to agents only. */
const AGENT_ONLY_OPTIONS: readonly Option<unknown>[] = [
  OPTIONS.autonomy,
  OPTIONS.model,
  OPTIONS.effort,
  OPTIONS.maxTurns,
  OPTIONS.budgetUsd,
  OPTIONS.budgetTokens,
  OPTIONS.thread,
]

/** Returns the options of the agent. */
export function parseAgentOptions(args: ParsedArgs, config: Config): AgentOptions {
  const options = definedFields({
    model: args.value(OPTIONS.model),
    effort: args.value(OPTIONS.effort),
    thread: args.value(OPTIONS.thread),
  })
  return { autonomy: args.value(OPTIONS.autonomy) ?? config.autonomy.value, ...options }
}

/** Refuses agent options for a command, which would never see them. */
export function refuseAgentOptions(args: ParsedArgs): void {
  const option = AGENT_ONLY_OPTIONS.find(known => args.has(known))
  if (option === undefined) return
  throw refusal('usage', `--${option.name} is for an agent with a prompt, and this is a command`, 'leave it out')
}

/** Refuses options that need the supervisor: without it nobody counts usage, finds a thread, or sees the end. */
export function refuseUnsupervisedOptions({ thread, supervision }: RunRequest): void {
  const { limits, memory, verify, onExit } = supervision
  const requested = [
    limits !== undefined && 'a budget',
    thread !== undefined && '--thread',
    memory !== undefined && '--memory',
    verify !== undefined && '--verify',
    onExit !== undefined && 'on-exit',
  ]
  const option = requested.find(known => known !== false)
  if (option === undefined) return
  throw refusal(
    'usage',
    `${option} needs the supervisor, and resilient is false`,
    'leave it out, or add -c resilient=true',
  )
}

type DefinedFields<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

function definedFields<T extends object>(values: T): DefinedFields<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as DefinedFields<T>
}

/** Returns the agent that gets the prompt: the requested one, the configured one, else the first installed one. */
export function chooseAgent(
  requested: string | undefined,
  configured: string | null,
  isInstalled: (program: string) => boolean,
): string {
  if (requested !== undefined && !AGENT_KINDS.includes(requested)) throw unknownAgent(requested)
  const agent =
    requested ?? configured ?? AGENT_PROGRAMS.find(known => isInstalled(known.program))?.kind ?? throwRefusal(noAgent())
  if (agent !== 'command') return agent
  throw refusal('usage', 'a command reads no prompt', 'put the command after --: oneshot run -- pytest tests/')
}

export function unknownAgent(agent: string): Refusal {
  const suggestion = didYouMean(agent, AGENT_KINDS)
  const hint =
    suggestion === undefined ? `the agents are ${AGENT_KINDS.join(', ')}` : `did you mean --agent ${suggestion}?`
  return refusal('agent-unknown', `there is no agent ${JSON.stringify(agent)}`, hint)
}

function noAgent(): Refusal {
  const programs = AGENT_PROGRAMS.map(known => known.program).join(', ')
  const installs = AGENT_PROGRAMS.map(known => `  ${installCommand(known, process.versions.node)}`).join('\n')
  return refusal(
    'agent-missing',
    `no agent was found on PATH (looked for ${programs})`,
    `try it without one: oneshot run --agent demo "show me"; or install one:\n${installs}`,
  )
}

function throwRefusal(cause: Refusal): never {
  throw cause
}
