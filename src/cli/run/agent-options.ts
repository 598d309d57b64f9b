import type { Config } from '../../api/config/load-config.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { RunRequest } from '../../api/contract/run-request.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { RUN_OPTION_LIST } from '../args/run-options.ts'
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
