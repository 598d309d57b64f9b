import crypto from 'node:crypto'
import path from 'node:path'
import type { Git } from '../git.ts'
import { findGit, type GitEnvironment } from '../environment.ts'
import { gitAtTop, type RepositoryCache } from '../repository-context.ts'
import type { RepositoryContext } from '../repository-context.ts'
import type { Repository } from '../repository.ts'

/** Where refs of ours lie that are no checkpoints: not below those, which are searched, pushed and fetched. */
const LOOP_REFS = 'refs/oneshot-loop'

/** What loops have seen of finished work: below it the id of the session, and a name. */
export const WORK_REFS = `${LOOP_REFS}/work`

/** What git is to do and not to do, beyond what it is told for checkpoints: these indexes are read by others, too. */
const SETTINGS: readonly string[] = [
  'index.skipHash=false',
  'rerere.enabled=false',
  'merge.autoStash=false',
  'merge.verifySignatures=false',
  'submodule.recurse=false',
  'core.editor=true',
  'commit.status=false',
  'advice.detachedHead=false',
]

/** Files must be there in the end, also those that a partial clone has left with its remote. */
const ENV = { GIT_NO_LAZY_FETCH: '0', GIT_EDITOR: 'true', GIT_MERGE_AUTOEDIT: 'no', GIT_REFLOG_ACTION: 'oneshot' }

export async function findWorktreesGit(env: NodeJS.ProcessEnv): Promise<GitEnvironment> {
  const environment = await findGit(env)
  const options = [...environment.options, ...SETTINGS.flatMap(setting => ['-c', setting])]
  return { ...environment, options, env: { ...environment.env, ...ENV } }
}

/** A working tree, as one of those that are looked at and worked in. */
export async function openWorktreeContext(
  git: Git,
  cache: RepositoryCache,
  largest?: number,
): Promise<RepositoryContext> {
  const repository = await cache.repository(git)
  return {
    sessionId: 'workshop',
    git: gitAtTop(git, repository),
    repository,
    ref: snapshotRef(repository.top),
    folder: worktreeStateFolder(repository),
    path: '',
    cache,
    umask: process.umask(),
    maxFileSize: largest,
  }
}

/** A word for a path that may stand in the name of a ref or a file. */
export function pathHash(file: string): string {
  return crypto.createHash('sha256').update(file).digest('hex').slice(0, 16)
}

/** Keeps what was seen last in a working tree. */
export function snapshotRef(top: string): string {
  return `${LOOP_REFS}/seen/${pathHash(top)}`
}

/** Keeps what was on a branch before it went back. One name, because a branch may lie below where another one was. */
export function backupRef(branch: string): string {
  return `${LOOP_REFS}/kept/${branch.replaceAll('/', '+')}`
}

/** What is ours in a working tree's own git folder; it goes with it. */
function worktreeStateFolder({ gitDir }: Repository): string {
  return path.join(gitDir, 'oneshot', 'looks')
}

/** What is ours in the git folder that all working trees share. */
export function sharedStateFolder({ commonDir }: Repository): string {
  return path.join(commonDir, 'oneshot', 'workshop')
}

/** The commit that a name stands for, a branch before anything else; null when there is none. */
export async function resolveCommit(git: Git, name: string): Promise<string | null> {
  const [branch = null, other = null] = await resolveObjects(git, [`refs/heads/${name}^{commit}`, `${name}^{commit}`])
  return branch ?? other
}

/** The objects that these names stand for, asked for at once; null for each that is not there. */
export async function resolveObjects(git: Git, names: readonly string[]): Promise<(string | null)[]> {
  const input = names.map(name => `${name.replaceAll('\n', ' ')}\n`).join('')
  const output = await git.runForLine(['cat-file', '--batch-check=%(objectname)'], { input })
  return output.split('\n').map(line => (/^[0-9a-f]{40,64}$/.test(line) ? line : null))
}

/** Whether one commit is in the history of another. */
export async function isAncestor(git: Git, commit: string, other: string): Promise<boolean> {
  const { code } = await git.tryRun(['merge-base', '--is-ancestor', commit, other])
  return code === 0
}
