import { AGENT_PROGRAMS, type AgentProgram } from '../../api/contract/agent-kinds.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { type UnknownOutput, unknownOutput } from '../../views/unknown-output.ts'
import type { Home } from '../../world/os/home.ts'
import { which } from '../../world/os/which.ts'
import { type Finding, failure, note, ok, warning } from './finding.ts'
import { probe } from './probe.ts'
import { compareVersions, versionIn } from './version.ts'

export interface Circumstances {
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  readonly home: Home
  /** The agent that gets prompts; null when none was chosen. */
  readonly agent: string | null
  readonly autonomy: string
  readonly isRoot: boolean
}

/** Which agents are there and what is worth knowing about them, asked side by side. */
export async function checkAgents(circumstances: Circumstances): Promise<Finding[]> {
  const strange = strangeOutput(circumstances.home)
  const findings = await Promise.all(AGENT_PROGRAMS.map(agent => checkAgent(agent, circumstances, strange)))
  const isNone = AGENT_PROGRAMS.every(
    ({ program }) => which(program, circumstances.env, circumstances.cwd) === undefined,
  )
  return isNone ? [...findings.flat(), NO_AGENT] : findings.flat()
}

const NO_AGENT = warning(
  'agents',
  'no agent is installed',
  'install one of them, or try it without: oneshot run --agent demo "show me"',
)

async function checkAgent(
  agent: AgentProgram,
  circumstances: Circumstances,
  strange: readonly UnknownOutput[],
): Promise<Finding[]> {
  const { env, cwd } = circumstances
  const check = `agent ${agent.kind}`
  const file = which(agent.program, env, cwd)
  if (file === undefined) {
    const isWanted = circumstances.agent === agent.kind
    return isWanted
      ? [failure(check, `it is the agent you chose, and ${agent.program} is not on PATH`, agent.install)]
      : [note(check, 'not installed', agent.install)]
  }
  const said = await probe(file, '--version', env)
  const version = versionIn(said)
  const unknown = strange.filter(output => output.agent === agent.kind)
  return [
    judgeVersion(agent, version, `${version ?? (said || 'version unknown')} at ${file}`),
    ...rootRule(agent, circumstances),
    ...(unknown.length === 0 ? [] : [tellUnknown(agent, version, unknown)]),
  ]
}

/** Exported for its test. */
export function judgeVersion(agent: AgentProgram, version: string | undefined, found: string): Finding {
  const { kind, install, login, tried } = agent
  const check = `agent ${kind}`
  const [oldest, newest] = [tried[0], tried.at(-1)]
  const loginHint = `to log in: ${login}`
  if (version === undefined || oldest === undefined || newest === undefined) return ok(check, `${found}; ${loginHint}`)
  if (compareVersions(version, oldest) < 0)
    return warning(check, `${found} is too old: ${oldest} is the oldest that was tried`, install)
  const age = compareVersions(version, newest) > 0 ? ` (newer than ${newest}, the newest that was tried)` : ''
  return ok(check, `${found}${age}; ${loginHint}`)
}

/** claude 2.1: as root it refuses to skip its questions, unless it is told that it is in a sandbox. */
function rootRule({ kind }: AgentProgram, { env, isRoot, autonomy }: Circumstances): Finding[] {
  if (kind !== 'claude' || !isRoot || autonomy !== 'full' || env['IS_SANDBOX'] === '1') return []
  return [
    warning(
      'agent claude as root',
      'you are root, and claude refuses full autonomy to root',
      'set IS_SANDBOX=1 if this machine is a sandbox, run it as another user, or use --autonomy edits',
    ),
  ]
}

function tellUnknown({ kind }: AgentProgram, version: string | undefined, unknown: readonly UnknownOutput[]): Finding {
  const name = version === undefined ? kind : `${kind} ${version}`
  const shown = unknown.slice(0, 5).map(({ what, sessions }) => `${oneLine(what)} (in ${counted(sessions)})`)
  const more = unknown.length > shown.length ? `, and ${unknown.length - shown.length} more` : ''
  const message = `${name} said things this oneshot does not know: ${shown.join(', ')}${more}; log --raw has them`
  return note(`agent ${kind} output`, message, 'oneshot update --check')
}

function counted(sessions: number): string {
  return sessions === 1 ? '1 session' : `${sessions} sessions`
}

function strangeOutput(home: Home): UnknownOutput[] {
  try {
    return unknownOutput(home)
  } catch {
    return [] // What is wrong with the state folder is told by the check of its own.
  }
}
