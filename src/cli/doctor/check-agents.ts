import { AGENT_PROGRAMS, type AgentProgram, installCommand } from '../../api/contract/known-agents.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { type UnknownOutput, countUnknownOutput } from '../../views/read-session.ts'
import type { Home } from '../../state/home.ts'
import { which } from '../../os/which.ts'
import { type Finding, failure, note, ok, warning } from './finding.ts'
import { readVersionLine } from './check-programs.ts'
import { compareVersions, extractVersion } from './check-programs.ts'

export interface AgentCheckContext {
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  readonly home: Home
  /** The agent that gets prompts; null when none is configured. */
  readonly agent: string | null
  readonly autonomy: string
  readonly isRoot: boolean
}

/** Checks all agents in parallel and reports the facts that a user should know about them. */
export async function checkAgents(context: AgentCheckContext): Promise<Finding[]> {
  const unknownOutput = readUnknownOutput(context.home)
  const findings = await Promise.all(AGENT_PROGRAMS.map(agent => checkAgent(agent, context, unknownOutput)))
  const hasNone = AGENT_PROGRAMS.every(({ program }) => which(program, context.env, context.cwd) === undefined)
  return hasNone ? [...findings.flat(), NO_AGENT] : findings.flat()
}

const NO_AGENT = warning(
  'agents',
  'no agent is installed',
  'install one of them, or try it without: oneshot run --agent demo "show me"',
)

async function checkAgent(
  agent: AgentProgram,
  context: AgentCheckContext,
  unknownOutput: readonly UnknownOutput[],
): Promise<Finding[]> {
  const { env, cwd } = context
  const check = `agent ${agent.kind}`
  const file = which(agent.program, env, cwd)
  if (file === undefined) {
    const isChosen = context.agent === agent.kind
    return isChosen
      ? [
          failure(
            check,
            `it is the agent you chose, and ${agent.program} is not on PATH`,
            installCommand(agent, process.versions.node),
          ),
        ]
      : [note(check, 'not installed', installCommand(agent, process.versions.node))]
  }
  const output = await readVersionLine(file, '--version', env)
  const version = extractVersion(output)
  const unknown = unknownOutput.filter(output => output.agent === agent.kind)
  return [
    checkVersion(agent, version, `${version ?? (output || 'version unknown')} at ${file}`),
    ...checkRoot(agent, context),
    ...(unknown.length === 0 ? [] : [describeUnknownOutput(agent, version, unknown)]),
  ]
}

/** Exported for its test. */
export function checkVersion(agent: AgentProgram, version: string | undefined, found: string): Finding {
  const { kind, login, tried } = agent
  const check = `agent ${kind}`
  const [oldest, newest] = [tried[0], tried.at(-1)]
  const loginHint = `to log in: ${login}`
  if (version === undefined || oldest === undefined || newest === undefined) return ok(check, `${found}; ${loginHint}`)
  if (compareVersions(version, oldest) < 0)
    return warning(
      check,
      `${found} is too old: ${oldest} is the oldest that was tried`,
      installCommand(agent, process.versions.node),
    )
  const age = compareVersions(version, newest) > 0 ? ` (newer than ${newest}, the newest that was tried)` : ''
  return ok(check, `${found}${age}; ${loginHint}`)
}

/** claude 2.1: as root it refuses to skip its questions, unless a variable declares a sandbox. */
function checkRoot({ kind }: AgentProgram, { env, isRoot, autonomy }: AgentCheckContext): Finding[] {
  if (kind !== 'claude' || !isRoot || autonomy !== 'full' || env['IS_SANDBOX'] === '1') return []
  return [
    warning(
      'agent claude as root',
      'you are root, and claude refuses full autonomy to root',
      'set IS_SANDBOX=1 if this machine is a sandbox, run it as another user, or use --autonomy edits',
    ),
  ]
}

function describeUnknownOutput(
  { kind }: AgentProgram,
  version: string | undefined,
  unknown: readonly UnknownOutput[],
): Finding {
  const name = version === undefined ? kind : `${kind} ${version}`
  const shown = unknown.slice(0, 5).map(({ what, sessions }) => `${toOneLine(what)} (in ${countSessions(sessions)})`)
  const more = unknown.length > shown.length ? `, and ${unknown.length - shown.length} more` : ''
  const message = `${name} said things this oneshot does not know: ${shown.join(', ')}${more}; log --raw has them`
  return note(`agent ${kind} output`, message, 'oneshot update --check')
}

function countSessions(sessions: number): string {
  return sessions === 1 ? '1 session' : `${sessions} sessions`
}

function readUnknownOutput(home: Home): UnknownOutput[] {
  try {
    return countUnknownOutput(home)
  } catch {
    return [] // The check of the state folder reports its problems.
  }
}
