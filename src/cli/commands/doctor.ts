import { loadConfig } from '../../api/config/load-config.ts'
import { checkAgents } from '../doctor/check-agents.ts'
import { checkBoot, checkLogout } from '../doctor/check-boot-and-logout.ts'
import { checkChannels } from '../doctor/check-channels.ts'
import { checkNode, checkTmux, checkTools } from '../doctor/check-programs.ts'
import {
  checkConfig,
  checkDaemon,
  checkDatabase,
  checkDocker,
  checkHome,
  checkSpace,
  checkWatches,
} from '../doctor/check-home-and-supervisor.ts'
import type { Finding } from '../doctor/finding.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { toJson } from '../terminal/format.ts'
import type { Paint } from '../terminal/colors.ts'
import { type Command, type CommandContext, currentDirectory } from '../context.ts'
import { OPTIONS } from '../args/options.ts'

export const command: Command = {
  name: 'doctor',
  group: 'Supervisor',
  order: 30,
  summary: 'check this machine for everything that oneshot needs',
  about: 'Exits with 1 when a check fails. Nothing secret is printed.',
  arguments: [],
  options: [OPTIONS.fix, OPTIONS.json],
  examples: [
    { argv: ['doctor'], description: 'check' },
    { argv: ['doctor', '--fix'], description: 'close the state folder to others, start the supervisor' },
  ],
  run: doctor,
}

async function doctor(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { out, err } = context.screen
  const findings = await runChecks(args, context)
  const failed = findings.filter(finding => finding.status === 'failure').length
  if (args.has(OPTIONS.json)) out.printLine(toJson({ ok: failed === 0, checks: findings }))
  else {
    for (const finding of findings) out.printLine(describe(finding, out.paint))
    err.printLine(summarize(findings))
  }
  return failed === 0 ? 0 : 1
}

function summarize(findings: readonly Finding[]): string {
  const count = (status: Finding['status']): number => findings.filter(finding => finding.status === status).length
  const [failed, warned] = [count('failure'), count('warning')]
  if (failed > 0) return `${failed} of ${findings.length} checks failed`
  return warned === 0
    ? 'all checks passed'
    : `all checks passed, with ${warned} ${warned === 1 ? 'warning' : 'warnings'}`
}

async function runChecks(args: ParsedArgs, context: CommandContext): Promise<Finding[]> {
  const { env, home } = context
  const cwd = currentDirectory(context)
  const options = { fix: args.has(OPTIONS.fix) }
  // The check of the folder comes first, because the supervisor refuses a folder that is open to others.
  const folder = checkHome(home, options)
  const [tmux, daemon, config, boot, logout, channels, agents] = await Promise.all([
    checkTmux(env, cwd),
    checkDaemon(context, options),
    checkConfig(env, cwd, args.values(OPTIONS.config)),
    checkBoot(home, env),
    checkLogout(home, env),
    checkChannels(env, home),
    configuredAgent(args, env, cwd).then(chosen =>
      checkAgents({ env, cwd, home, isRoot: process.getuid?.() === 0, ...chosen }),
    ),
  ])
  // SQLite blocks the process while it checks, so the other checks come first.
  const database = await checkDatabase(home, () => {
    const { err, isQuiet } = context.screen
    if (err.isTerminal && !isQuiet) err.printLine('checking the database …')
  })
  return [
    checkNode(process.versions.node),
    tmux,
    ...checkTools(env, cwd),
    folder,
    checkSpace(home),
    ...database,
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

/** An unreadable configuration chooses no agent; its own check reports the problem. */
async function configuredAgent(
  args: ParsedArgs,
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<{ agent: string | null; autonomy: string }> {
  try {
    const { agent, autonomy } = await loadConfig({ env, cwd, overrides: args.values(OPTIONS.config) })
    return { agent: agent.value, autonomy: autonomy.value }
  } catch {
    return { agent: null, autonomy: 'full' }
  }
}

const STATUS_STYLES = {
  ok: { symbol: '✔', color: 'green' },
  note: { symbol: '·', color: 'dim' },
  warning: { symbol: '▲', color: 'yellow' },
  failure: { symbol: '✖', color: 'red' },
} as const

function describe({ check, status, message, hint }: Finding, paint: Paint): string {
  const { symbol, color } = STATUS_STYLES[status]
  const line = `${paint[color](`${symbol} ${status.padEnd(7)}`)} ${check}: ${message}`
  return hint === undefined ? line : `${line}\n          ${paint.cyan('hint:')} ${hint}`
}
