import { refusal } from '../../api/contract/problems.ts'
import { AGENT_KINDS, AGENT_PROGRAMS, installCommand } from '../../api/contract/known-agents.ts'
import { didYouMean } from '../../lib/text/did-you-mean.ts'
import type { Refusal } from '../../lib/errors.ts'

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
