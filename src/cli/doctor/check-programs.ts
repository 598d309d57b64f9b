import { AGENT_PROGRAMS } from '../../api/contract/agent-kinds.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import type { Duration } from '../../lib/time.ts'
import { run } from '../../world/os/run.ts'
import { which } from '../../world/os/which.ts'
import { type Finding, failure, note, ok, warning } from './finding.ts'
import { isAtLeast, tmuxVersion } from './tmux-version.ts'

/** Some agents take seconds to tell their version; longer means that they wait for something. */
const VERSION_PATIENCE: Duration = 5_000

export function checkNode(version: string): Finding {
  const major = Number(version.split('.')[0])
  if (major >= 20) return ok('node', `Node ${version}`)
  return failure('node', `Node ${version} is too old`, 'install Node 20 or newer')
}

export async function checkTmux(env: NodeJS.ProcessEnv, cwd: string): Promise<Finding> {
  const program = which('tmux', env, cwd)
  if (program === undefined) return failure('tmux', 'tmux is not on PATH', 'install tmux 3.2 or newer')
  const text = await versionOf(program, '-V', env)
  const version = tmuxVersion(text)
  if (version === undefined) return note('tmux', `${text || 'a tmux of unknown version'} at ${program}`)
  if (!isAtLeast(version, 3, 2)) return failure('tmux', `${text} is too old`, 'install tmux 3.2 or newer')
  if (isAtLeast(version, 3, 6)) return ok('tmux', `${text} at ${program}`)
  return note(
    'tmux',
    `${text} at ${program}; before 3.6 it may lose the deaths of panes, so oneshot does not rely on it`,
  )
}

export function checkTools(env: NodeJS.ProcessEnv, cwd: string): Finding[] {
  return [
    { name: 'setsid', without: 'work is told apart by process group only' },
    { name: 'flock', without: 'a second copy of an attempt is kept out by its claim file only' },
  ].map(({ name, without }) => {
    const program = which(name, env, cwd)
    return program === undefined ? note(name, `not found; ${without}`) : ok(name, program)
  })
}

/** Which agents are there, asked side by side. */
export async function checkAgents(env: NodeJS.ProcessEnv, cwd: string): Promise<Finding[]> {
  const findings = await Promise.all(
    AGENT_PROGRAMS.map(async ({ kind, program }) => {
      const file = which(program, env, cwd)
      if (file === undefined) return note(`agent ${kind}`, 'not installed')
      return ok(`agent ${kind}`, `${(await versionOf(file, '--version', env)) || 'version unknown'} at ${file}`)
    }),
  )
  if (findings.some(finding => finding.status === 'ok')) return findings
  const [first] = AGENT_PROGRAMS
  const hint = `install one, such as: ${first?.install}; or try oneshot run --agent demo "show me"`
  return [...findings, warning('agents', 'no agent is installed', hint)]
}

async function versionOf(program: string, option: string, env: NodeJS.ProcessEnv): Promise<string> {
  try {
    const { stdout } = await run(program, [option], { env, timeout: VERSION_PATIENCE })
    return oneLine(stdout.split('\n', 1)[0] as string).slice(0, 80)
  } catch {
    return '' // It cannot be started; that it is there is all we can say.
  }
}
