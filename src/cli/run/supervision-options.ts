import type { Config } from '../../api/config/load-config.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { RunRequest } from '../../api/contract/run-request.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { OPTIONS } from '../args/options.ts'
import { didYouMean } from '../../lib/text/did-you-mean.ts'
import type { CommandContext } from '../context.ts'
import { readRequestFields } from './request-fields.ts'

type Supervision = RunRequest['supervision']

/** Returns the supervision of the session: the options of the line, completed from the configuration. */
export function parseSupervisionOptions(args: ParsedArgs, config: Config): Supervision {
  const { supervision } = readRequestFields(args, config)
  const restartMode = args.value(OPTIONS.restart)
  const onExit = parseOnExit(args, config)
  return {
    ...supervision,
    restart: {
      ...supervision.restart,
      ...(restartMode === 'on-failure' && { on: 'failure' as const }),
      ...(restartMode === 'never' && { limit: 0 }),
    },
    ...parseVerifyOptions(args),
    ...(onExit !== undefined && { onExit }),
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
