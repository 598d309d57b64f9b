import fs from 'node:fs'
import { assertTaskName } from '../../api/config/keys.ts'
import type { Config } from '../../api/config/load-config.ts'
import { AGENT_KINDS } from '../../api/contract/known-agents.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { RunRequest } from '../../api/contract/run-request.ts'
import type { Refusal } from '../../lib/errors.ts'
import { which } from '../../os/which.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { currentDirectory, type CommandContext, resolvePath } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { parseAgentOptions, refuseAgentOptions } from './agent-options.ts'
import { chooseAgent, unknownAgent } from './choose-agent.ts'
import { refuseInvalidUtf8, rawEnvironment } from '../args/argument-and-env-bytes.ts'
import { refuseUnusedMaxRestarts, parseSupervisionOptions } from './supervision-options.ts'

/** Variables of the terminal or the attempt around us; the new session has its own. */
const DROPPED_VARIABLES = new Set(['TMUX', 'TMUX_PANE', 'ONESHOT_ATTEMPT'])

/** Builds the request to the daemon: the options of the line, completed from the configuration. */
export function buildRunRequest(
  args: ParsedArgs,
  context: CommandContext,
  input: { config: Config; cwd: string; prompt: Buffer | undefined },
): RunRequest {
  const { config, cwd, prompt } = input
  const name = args.value(OPTIONS.name) ?? config.name.value ?? undefined
  if (name !== undefined) assertTaskName(name)
  const mode = selectMode(args)
  return {
    ...(prompt === undefined ? commandRequest(args, context) : agentRequest(prompt, args, context, input)),
    ...(name !== undefined && { name }),
    ...(mode !== undefined && { mode }),
    cwd,
    env: buildEnvironment(args, context, cwd),
    supervision: parseSupervisionOptions(args, config),
  }
}

/** Returns the working directory without symbolic links, because commands find sessions by it. */
export function resolveDirectory(args: ParsedArgs, context: Pick<CommandContext, 'host'>): string {
  const cwd = args.value(OPTIONS.cwd)
  if (cwd === undefined) return currentDirectory(context)
  const full = resolvePath(context, cwd)
  if (!fs.existsSync(full)) throw badDirectory(full, 'does not exist')
  if (!fs.statSync(full).isDirectory()) throw badDirectory(full, 'is not a directory')
  return fs.realpathSync(full)
}

function badDirectory(directory: string, problem: string): Refusal {
  return refusal('cwd-missing', `cannot work in ${directory}: it ${problem}`, 'check --cwd')
}

function agentRequest(
  prompt: Buffer,
  args: ParsedArgs,
  context: CommandContext,
  { config, cwd }: { config: Config; cwd: string },
): Omit<RunRequest, 'cwd' | 'env' | 'supervision'> {
  const { argv, env } = context
  const isInstalled = (program: string): boolean => which(program, env, cwd) !== undefined
  const agent = chooseAgent(args.value(OPTIONS.agent), config.agent.value, isInstalled)
  if (args.rest !== null) refuseInvalidUtf8(context, argv.length - args.rest.length)
  return { agent, argv: args.rest ?? [], prompt: prompt.toString('base64'), ...parseAgentOptions(args, config) }
}

function commandRequest(args: ParsedArgs, context: CommandContext): Pick<RunRequest, 'agent' | 'argv'> {
  const agent = args.value(OPTIONS.agent)
  if (agent !== undefined && !AGENT_KINDS.includes(agent)) throw unknownAgent(agent)
  if (agent !== undefined && agent !== 'command') {
    throw refusal('usage', `${agent} needs a prompt`, promptHint(agent, args.rest ?? []))
  }
  if (args.rest === null || args.rest.length === 0) {
    throw refusal(
      'usage',
      'run needs a prompt or a command',
      'oneshot run "fix the bug", or oneshot run -- pytest tests/',
    )
  }
  refuseAgentOptions(args)
  refuseUnusedMaxRestarts(args)
  refuseInvalidUtf8(context, context.argv.length - args.rest.length)
  return { agent: 'command', argv: args.rest }
}

/** The words behind `--` are arguments of the agent; some users write a prompt there because it begins with a hyphen. */
function promptHint(agent: string, rest: readonly string[]): string {
  const example = `oneshot run --agent ${agent} "fix the bug"`
  if (rest.length === 0) return example
  return `write it before --: ${example}; a single word that begins with a hyphen goes through stdin: oneshot run --agent ${agent} -`
}

function selectMode(args: ParsedArgs): RunRequest['mode'] {
  const isTty = args.has(OPTIONS.tty)
  const isHeadless = args.has(OPTIONS.headless)
  if (isTty && isHeadless) throw refusal('usage', '--tty and --headless exclude each other', 'give one of them')
  return isTty ? 'tty' : isHeadless ? 'headless' : undefined
}

/** Sets PWD too: some agents trust it more than their working directory. */
export function buildEnvironment(
  args: ParsedArgs,
  { env, host }: Pick<CommandContext, 'env' | 'host'>,
  cwd: string,
): Record<string, string> {
  const inherited = Object.entries(rawEnvironment(env, host.environment)).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !DROPPED_VARIABLES.has(entry[0]),
  )
  const pwd = env.PWD === undefined ? [] : [['PWD', cwd] as const]
  return Object.fromEntries([...inherited, ...pwd, ...args.values(OPTIONS.env)])
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
