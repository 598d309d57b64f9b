import type { Config } from '../../api/config/load-config.ts'
import { AGENT_DEFAULT } from '../../api/config/supervision-keys.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { RunRequest } from '../../api/contract/run-request.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { OPTIONS } from '../args/options.ts'
import { didYouMean } from '../../lib/text/did-you-mean.ts'
import type { CommandContext } from '../context.ts'

type Supervision = RunRequest['supervision']

/** Returns the supervision of the session: the options of the line, completed from the configuration. */
export function parseSupervisionOptions(args: ParsedArgs, config: Config): Supervision {
  const withDefault = <T>(value: T | undefined, fallback: T): T => (value === undefined ? fallback : value)
  const restartMode = args.value(OPTIONS.restart)
  const memory = withDefault(args.value(OPTIONS.memory), config.memory.value)
  const silence = withDefault(args.value(OPTIONS.silence), config.silence.value)
  const limits = parseLimits(args)
  const onExit = parseOnExit(args, config)
  return {
    maxTime: withDefault(args.value(OPTIONS.maxTime), config['max-time'].value),
    ...(limits !== undefined && { limits }),
    restart: {
      ...(restartMode === 'on-failure' && { on: 'failure' as const }),
      limit: restartMode === 'never' ? 0 : (args.value(OPTIONS.maxRestarts) ?? config['max-restarts'].value),
      window: config['restart-window'].value,
      nextDelay: config['restart-delay'].value,
      maxDelay: config['restart-max-delay'].value,
    },
    patience: {
      ...(silence !== AGENT_DEFAULT && { silence }),
      limit: withDefault(args.value(OPTIONS.limitWait), config['limit-wait'].value),
      absence: config['resume-within'].value,
    },
    ...(memory !== null && { memory }),
    maxOutput: withDefault(args.value(OPTIONS.maxOutput), config['max-output'].value),
    ...parseVerifyOptions(args),
    saving: {
      mode: args.value(OPTIONS.checkpoints) ?? config.checkpoints.value,
      interval: config['checkpoint-interval'].value,
      push: args.value(OPTIONS.push) ?? config['checkpoint-push'].value,
      ...(args.has(OPTIONS.pushUntracked) && { pushUntracked: true }),
      ...(config.nested.value && { nested: true }),
    },
    alertAfter: config['notify-restarts'].value,
    ...(onExit !== undefined && { onExit }),
    ...(!config['project-files'].value && { projectFiles: false }),
    ...(config.beads.value && { beads: true }),
  }
}

function parseLimits(args: ParsedArgs): Supervision['limits'] {
  const usd = args.value(OPTIONS.budgetUsd)
  const tokens = args.value(OPTIONS.budgetTokens)
  const turns = args.value(OPTIONS.maxTurns)
  if (usd === undefined && tokens === undefined && turns === undefined) return undefined
  return {
    ...(usd !== undefined && { usd }),
    ...(tokens !== undefined && { tokens }),
    ...(turns !== undefined && { turns }),
  }
}

function parseVerifyOptions(args: ParsedArgs): Pick<Supervision, 'verify'> {
  const git = args.has(OPTIONS.verifyGit)
  const check = args.value(OPTIONS.verify) ?? null
  return git || check !== null ? { verify: { git, check } } : {}
}

/** oneshot starts a command once unless its user requests more: a number alone would silently have no effect. */
export function refuseUnusedMaxRestarts(args: ParsedArgs): void {
  if (!args.has(OPTIONS.maxRestarts) || args.has(OPTIONS.restart)) return
  throw refusal('usage', '--max-restarts does nothing for a command by itself', 'add --restart on-failure')
}

/** Returns the command to run when the session has ended: the one on the line, else the configured one. */
function parseOnExit(args: ParsedArgs, config: Config): readonly string[] | undefined {
  const words = args.value(OPTIONS.onExit)
  const shell = args.value(OPTIONS.onExitShell)
  if (words !== undefined || shell !== undefined) return onExitCommand(words ?? null, shell ?? null, '--')
  if (!config.resilient.value) return undefined // Without the supervisor nobody sees the end.
  return onExitCommand(config['on-exit'].value, config['on-exit-shell'].value, '')
}

function onExitCommand(
  words: readonly string[] | null,
  shell: string | null,
  dashes: string,
): readonly string[] | undefined {
  const hasShell = shell !== null && shell.trim() !== ''
  if (words !== null && words.length > 0 && hasShell) {
    throw refusal('usage', `${dashes}on-exit and ${dashes}on-exit-shell exclude each other`, 'give one of them')
  }
  if (hasShell) return ['sh', '-c', shell]
  return words === null || words.length === 0 ? undefined : words
}

/** Reports at the start that checkpoints are impossible here, and not when it is too late. */
export async function checkCheckpointOptions(
  { agent, cwd, supervision: { saving } }: RunRequest,
  args: ParsedArgs,
  context: CommandContext,
): Promise<void> {
  const { home, screen } = context
  const push = saving?.push ?? null
  if (args.has(OPTIONS.push) && saving?.mode === 'off')
    throw refusal('usage', '--push has nothing to push with --checkpoints off', 'leave one of them out')
  if (args.has(OPTIONS.pushUntracked) && push === null)
    throw refusal('usage', '--push-untracked does nothing without --push', 'add --push REMOTE')
  if (args.has(OPTIONS.verifyGit)) await assertRepositoryForVerify(cwd, context)
  const isRequested = args.has(OPTIONS.push) || args.has(OPTIONS.checkpoints)
  const isInteractive = screen.err.isTerminal && !screen.isQuiet && !args.has(OPTIONS.json)
  if (saving?.mode === 'off' || (!isRequested && push === null && !isInteractive)) return
  const { remotesAt } = await import('../../views/saved-sessions.ts') // Most runs do not need this module.
  const remotes = await remotesAt(home, cwd)
  const printNote = (text: string): void => screen.err.printLine(`${screen.err.paint.yellow('note:')} ${text}`)
  if (remotes === null) {
    if ((isInteractive && agent !== 'command') || (isRequested && !screen.isQuiet))
      printNote(`no checkpoints here: ${cwd} is not a git repository (git init)`)
    return
  }
  if (push === null || isRemoteUrl(push) || remotes.includes(push)) return
  const problem = `there is no git remote ${push} in ${cwd}`
  if (args.has(OPTIONS.push)) throw refusal('no-remote', problem, remoteHint(push, remotes))
  if (!screen.isQuiet) printNote(`${problem}: checkpoints are not pushed`)
}

async function assertRepositoryForVerify(cwd: string, { home }: CommandContext): Promise<void> {
  const { remotesAt } = await import('../../views/saved-sessions.ts')
  if ((await remotesAt(home, cwd)) !== null) return
  throw refusal('no-repository', `${cwd} is not in a git repository, and --verify-git asks what git shows`, 'git init')
}

/** A URL needs no check against the remotes: only a push shows if its server exists. */
function isRemoteUrl(remote: string): boolean {
  return /[/:]/.test(remote)
}

function remoteHint(remote: string, remotes: readonly string[]): string {
  const suggestion = didYouMean(remote, remotes)
  if (suggestion !== undefined) return `did you mean ${suggestion}?`
  return remotes.length === 0 ? `git remote add ${remote} URL` : `one of ${remotes.join(', ')}`
}
