import { loadConfig } from '../../api/config/load-config.ts'
import { checkAgents } from '../doctor/check-agents.ts'
import { checkBoot, checkLogout } from '../doctor/check-boot.ts'
import { checkChannels } from '../doctor/check-channels.ts'
import { checkNode, checkTmux, checkTools } from '../doctor/check-programs.ts'
import { checkConfig, checkDaemon, checkDocker, checkHome, checkSpace, checkWatches } from '../doctor/check-state.ts'
import type { Finding } from '../doctor/finding.ts'
import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import type { Paint } from '../screen/paint.ts'
import { here, type Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function doctor(line: Line, surroundings: Surroundings): Promise<number> {
  const { out, err } = surroundings.screen
  const findings = await examine(line, surroundings)
  const failed = findings.filter(finding => finding.status === 'failure').length
  if (line.has(OPTIONS.json)) out.say(toJson({ ok: failed === 0, checks: findings }))
  else {
    for (const finding of findings) out.say(describe(finding, out.paint))
    err.say(verdictOn(findings))
  }
  return failed === 0 ? 0 : 1
}

function verdictOn(findings: readonly Finding[]): string {
  const count = (status: Finding['status']): number => findings.filter(finding => finding.status === status).length
  const [failed, warned] = [count('failure'), count('warning')]
  if (failed > 0) return `${failed} of ${findings.length} checks failed`
  return warned === 0
    ? 'all checks passed'
    : `all checks passed, with ${warned} ${warned === 1 ? 'warning' : 'warnings'}`
}

async function examine(line: Line, { env, home }: Surroundings): Promise<Finding[]> {
  const cwd = here()
  const options = { fix: line.has(OPTIONS.fix) }
  // The folder comes before the supervisor, which refuses one that is open to others.
  const folder = checkHome(home, options)
  const [tmux, daemon, config, boot, logout, channels, agents] = await Promise.all([
    checkTmux(env, cwd),
    checkDaemon(home, options),
    checkConfig(env, cwd, line.values(OPTIONS.config)),
    checkBoot(home, env),
    checkLogout(home, env),
    checkChannels(env, home),
    chosenIn(line, env, cwd).then(chosen =>
      checkAgents({ env, cwd, home, isRoot: process.getuid?.() === 0, ...chosen }),
    ),
  ])
  return [
    checkNode(process.versions.node),
    tmux,
    ...checkTools(env, cwd),
    folder,
    checkSpace(home),
    daemon,
    ...boot,
    ...logout,
    config,
    ...checkDocker(cwd),
    ...channels,
    ...checkWatches(),
    ...agents,
  ]
}

/** A configuration that cannot be read chooses nothing; its own check says what is wrong. */
async function chosenIn(
  line: Line,
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<{ agent: string | null; autonomy: string }> {
  try {
    const { agent, autonomy } = await loadConfig({ env, cwd, overrides: line.values(OPTIONS.config) })
    return { agent: agent.value, autonomy: autonomy.value }
  } catch {
    return { agent: null, autonomy: 'full' }
  }
}

const LOOKS = {
  ok: { symbol: '✔', shade: 'green' },
  note: { symbol: '·', shade: 'dim' },
  warning: { symbol: '▲', shade: 'yellow' },
  failure: { symbol: '✖', shade: 'red' },
} as const

function describe({ check, status, message, hint }: Finding, paint: Paint): string {
  const { symbol, shade } = LOOKS[status]
  const line = `${paint[shade](`${symbol} ${status.padEnd(7)}`)} ${check}: ${message}`
  return hint === undefined ? line : `${line}\n          ${paint.cyan('hint:')} ${hint}`
}
