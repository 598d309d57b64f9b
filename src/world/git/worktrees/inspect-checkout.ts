import type { Head, RepositoryState } from '../../../ports/worktrees.ts'
import { type RepositoryContext } from '../repository-context.ts'
import path from 'node:path'
import { readPart } from '../../../os/files/file-io.ts'
import { reflogSize } from './evidence/reflog.ts'

const STATUS_COMMAND = ['status', '--porcelain', '-z', '--untracked-files=normal', '--ignore-submodules=dirty'] as const

export async function inspectCheckout(context: RepositoryContext): Promise<RepositoryState> {
  const { git, repository } = context
  const { branch, commit } = await readCheckedOut(context)
  return {
    top: repository.top,
    gitDir: repository.gitDir,
    branch,
    head: commit,
    isClean: (await git.run(STATUS_COMMAND)).length === 0,
  }
}

/** Reads files if possible, because starting git takes longer. */
export async function readCheckedOut({ git, repository }: RepositoryContext): Promise<Head> {
  const { gitDir, commonDir } = repository
  const reflog = reflogSize(gitDir)
  const output = readIfPresent(path.join(gitDir, 'HEAD'))?.trim() ?? ''
  const ref = /^ref: (refs\/heads\/(?!.*\.\.).+)$/.exec(output)?.[1]
  const loose = ref === undefined ? output : readIfPresent(path.join(commonDir, ref))?.trim()
  if (ref !== 'refs/heads/.invalid' && loose !== undefined && OBJECT_ID.test(loose))
    return { commit: loose, branch: ref?.slice('refs/heads/'.length) ?? null, reflog }
  const { stdout } = await git.tryRun(['rev-parse', '--verify', '--quiet', 'HEAD'])
  const branch = await git.tryRun(['symbolic-ref', '--quiet', '--short', 'HEAD'])
  return { commit: stdout.toString().trim() || null, branch: branch.stdout.toString().trim() || null, reflog }
}

const OBJECT_ID = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/

export function readIfPresent(file: string): string | undefined {
  try {
    return readPart(file, 0, 4_096).toString()
  } catch {
    return undefined // The ref is packed or missing.
  }
}

/** Returns commits, newest first. `authoredAt`: seconds since 1970; a cherry-pick or rebase keeps it. */
export async function readLog(
  { git }: Pick<RepositoryContext, 'git'>,
  args: readonly string[],
): Promise<{ id: string; subject: string; parents: readonly string[]; authoredAt: number }[]> {
  const output = (await git.run(['log', '-z', '--no-color', '--format=%at %H %P%n%s', ...args])).toString()
  return output
    .split('\0')
    .filter(line => line !== '')
    .map(line => {
      const [authoredAt, id = '', ...parents] = line.slice(0, line.indexOf('\n')).trim().split(' ')
      return { id, subject: line.slice(line.indexOf('\n') + 1), parents, authoredAt: Number(authoredAt) }
    })
}
