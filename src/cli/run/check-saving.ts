import { refusal } from '../../api/contract/problems.ts'
import type { RunRequest } from '../../api/contract/requests.ts'
import { nearest } from '../../lib/nearest.ts'
import type { Line } from '../line/line.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

/** Whoever asks for work to be saved where that cannot be hears of it now, and not when it is too late. */
export async function checkSaving(
  { agent, cwd, saving }: Pick<RunRequest, 'agent' | 'cwd' | 'saving'>,
  line: Line,
  surroundings: Surroundings,
): Promise<void> {
  const { home, screen } = surroundings
  const push = saving?.push ?? null
  if (line.has(OPTIONS.push) && saving?.mode === 'off')
    throw refusal('usage', '--push has nothing to push with --checkpoints off', 'leave one of them out')
  if (line.has(OPTIONS.pushUntracked) && push === null)
    throw refusal('usage', '--push-untracked does nothing without --push', 'add --push REMOTE')
  if (line.has(OPTIONS.verifyGit)) await assertShown(cwd, surroundings)
  const isAsked = line.has(OPTIONS.push) || line.has(OPTIONS.checkpoints)
  const isSeen = screen.err.isTerminal && !screen.isQuiet && !line.has(OPTIONS.json)
  if (saving?.mode === 'off' || (!isAsked && push === null && !isSeen)) return
  const { remotesAt } = await import('../../views/checkpoints.ts') // Most runs do without.
  const remotes = await remotesAt(home, cwd)
  const say = (text: string): void => screen.err.say(`${screen.err.paint.yellow('note:')} ${text}`)
  if (remotes === null) {
    if ((isSeen && agent !== 'command') || (isAsked && !screen.isQuiet))
      say(`no checkpoints here: ${cwd} is not a git repository (git init)`)
    return
  }
  if (push === null || isAddress(push) || remotes.includes(push)) return
  const problem = `there is no git remote ${push} in ${cwd}`
  if (line.has(OPTIONS.push)) throw refusal('no-remote', problem, hintFor(push, remotes))
  if (!screen.isQuiet) say(`${problem}: checkpoints are not pushed`)
}

async function assertShown(cwd: string, { home }: Surroundings): Promise<void> {
  const { remotesAt } = await import('../../views/checkpoints.ts')
  if ((await remotesAt(home, cwd)) !== null) return
  throw refusal('no-repository', `${cwd} is not in a git repository, and --verify-git asks what git shows`, 'git init')
}

/** Nobody knows before it is tried whether somebody is there. */
function isAddress(remote: string): boolean {
  return /[/:]/.test(remote)
}

function hintFor(remote: string, remotes: readonly string[]): string {
  const meant = nearest(remote, remotes)
  if (meant !== undefined) return `did you mean ${meant}?`
  return remotes.length === 0 ? `git remote add ${remote} URL` : `one of ${remotes.join(', ')}`
}
