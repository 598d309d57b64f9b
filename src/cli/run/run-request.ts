import fs from 'node:fs'
import path from 'node:path'
import { checkTaskName } from '../../api/config/check-task-name.ts'
import type { Config } from '../../api/config/load-config.ts'
import { AGENT_KINDS } from '../../api/contract/agent-kinds.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { RunRequest } from '../../api/contract/requests.ts'
import type { Refusal } from '../../lib/refusal.ts'
import { which } from '../../world/os/which.ts'
import type { Line } from '../line/line.ts'
import { here, type Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'
import { agentWishes, refuseWishes } from './agent-wishes.ts'
import { chooseAgent, unknownAgent } from './choose-agent.ts'
import { onExitOf } from './on-exit.ts'
import { checkArguments, rawEnvironment } from './raw-arguments.ts'
import { refuseIdleWishes, supervisionWishes } from './supervision-wishes.ts'

/** Variables of the terminal or the attempt we are called from; the new work has its own. */
const NOT_HANDED_ON = new Set(['TMUX', 'TMUX_PANE', 'ONESHOT_ATTEMPT'])

/** What the daemon is asked for: the line, with the configuration filled in where it is silent. */
export function runRequest(
  line: Line,
  surroundings: Surroundings,
  given: { config: Config; cwd: string; prompt: Buffer | undefined },
): RunRequest {
  const { config, cwd, prompt } = given
  const maxTime = line.value(OPTIONS.maxTime)
  const name = line.value(OPTIONS.name) ?? config.name.value ?? undefined
  if (name !== undefined) checkTaskName(name)
  const mode = modeOf(line)
  const onExit = onExitOf(line, config)
  return {
    ...(prompt === undefined ? command(line, surroundings) : agentWith(prompt, line, surroundings, given)),
    ...(name !== undefined && { name }),
    ...(mode !== undefined && { mode }),
    ...(onExit !== undefined && { onExit }),
    ...(!config['project-files'].value && { projectFiles: false }),
    cwd,
    env: environment(line, surroundings.env, cwd),
    maxTime: maxTime === undefined ? config['max-time'].value : maxTime,
    ...supervisionWishes(line, config),
  }
}

/** Where the work happens, without symbolic links: sessions are found again by it. */
export function directoryOf(line: Line): string {
  const cwd = line.value(OPTIONS.cwd)
  if (cwd === undefined) return here()
  const full = path.resolve(cwd)
  if (!fs.existsSync(full)) throw noPlace(full, 'does not exist')
  if (!fs.statSync(full).isDirectory()) throw noPlace(full, 'is not a directory')
  return fs.realpathSync(full)
}

function noPlace(full: string, why: string): Refusal {
  return refusal('cwd-missing', `cannot work in ${full}: it ${why}`, 'check --cwd')
}

function agentWith(
  prompt: Buffer,
  line: Line,
  { argv, env }: Surroundings,
  { config, cwd }: { config: Config; cwd: string },
): Omit<RunRequest, 'cwd' | 'env' | 'maxTime'> {
  const isInstalled = (program: string): boolean => which(program, env, cwd) !== undefined
  const agent = chooseAgent(line.value(OPTIONS.agent), config.agent.value, isInstalled)
  if (line.rest !== null) checkArguments(argv, argv.length - line.rest.length)
  return { agent, argv: line.rest ?? [], prompt: prompt.toString('base64'), ...agentWishes(line, config) }
}

function command(line: Line, { argv }: Surroundings): Pick<RunRequest, 'agent' | 'argv'> {
  const agent = line.value(OPTIONS.agent)
  if (agent !== undefined && !AGENT_KINDS.includes(agent)) throw unknownAgent(agent)
  if (agent !== undefined && agent !== 'command') {
    throw refusal('usage', `${agent} needs a prompt`, `oneshot run --agent ${agent} "fix the bug"`)
  }
  if (line.rest === null || line.rest.length === 0) {
    throw refusal(
      'usage',
      'run needs a prompt or a command',
      'oneshot run "fix the bug", or oneshot run -- pytest tests/',
    )
  }
  refuseWishes(line)
  refuseIdleWishes(line)
  checkArguments(argv, argv.length - line.rest.length)
  return { agent: 'command', argv: line.rest }
}

function modeOf(line: Line): RunRequest['mode'] {
  const isTty = line.has(OPTIONS.tty)
  const isHeadless = line.has(OPTIONS.headless)
  if (isTty && isHeadless) throw refusal('usage', '--tty and --headless exclude each other', 'give one of them')
  return isTty ? 'tty' : isHeadless ? 'headless' : undefined
}

/** PWD tells where the shell stands; some agents believe it more than their own directory. */
export function environment(line: Line, env: NodeJS.ProcessEnv, cwd: string): Record<string, string> {
  const handedOn = Object.entries(rawEnvironment(env)).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !NOT_HANDED_ON.has(entry[0]),
  )
  const place = env.PWD === undefined ? [] : [['PWD', cwd] as const]
  return Object.fromEntries([...handedOn, ...place, ...line.values(OPTIONS.env)])
}
