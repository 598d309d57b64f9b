import { AGENT_KINDS, AGENT_PROGRAMS } from '../../api/contract/agent-kinds.ts'
import { refusal } from '../../api/contract/problems.ts'
import { nearest } from '../../lib/nearest.ts'
import type { Refusal } from '../../lib/refusal.ts'

/** The agent that gets the prompt: the one asked for, the configured one, else the first whose program is there. */
export function chooseAgent(
  asked: string | undefined,
  configured: string | null,
  isInstalled: (program: string) => boolean,
): string {
  if (asked !== undefined && !AGENT_KINDS.includes(asked)) throw unknownAgent(asked)
  const agent =
    asked ?? configured ?? AGENT_PROGRAMS.find(known => isInstalled(known.program))?.kind ?? refuse(noAgent())
  if (agent !== 'command') return agent
  throw refusal('usage', 'a command reads no prompt', 'put the command after --: oneshot run -- pytest tests/')
}

export function unknownAgent(agent: string): Refusal {
  const meant = nearest(agent, AGENT_KINDS)
  const hint = meant === undefined ? `the agents are ${AGENT_KINDS.join(', ')}` : `did you mean --agent ${meant}?`
  return refusal('agent-unknown', `there is no agent ${JSON.stringify(agent)}`, hint)
}

function noAgent(): Refusal {
  const programs = AGENT_PROGRAMS.map(known => known.program).join(', ')
  const installs = AGENT_PROGRAMS.map(known => `  ${known.install}`).join('\n')
  return refusal(
    'agent-missing',
    `no agent was found on PATH (looked for ${programs})`,
    `try it without one: oneshot run --agent demo "show me"; or install one:\n${installs}`,
  )
}

function refuse(cause: Refusal): never {
  throw cause
}
