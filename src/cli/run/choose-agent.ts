import type { Config } from '../../api/config/load-config.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { RunRequest } from '../../api/contract/run-request.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { RUN_OPTION_LIST } from '../args/run-options.ts'
import { AGENT_KINDS, AGENT_PROGRAMS, installCommand } from '../../api/contract/known-agents.ts'
import { didYouMean } from '../../lib/text/did-you-mean.ts'
import type { Refusal } from '../../lib/errors.ts'
import { readRequestFields } from './request-fields.ts'

type AgentOptions = Pick<RunRequest, 'autonomy' | 'model' | 'effort' | 'thread'>

/** Returns the options of the agent. */
export function parseAgentOptions(args: ParsedArgs, config: Config): AgentOptions {
  const { supervision: _, ...options } = readRequestFields(args, config)
  return options
}

/** Refuses agent options for a command, which would never see them. */
export function refuseAgentOptions(args: ParsedArgs): void {
  const option = RUN_OPTION_LIST.find(known => known.isAgentOnly === true && args.has(known))
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
