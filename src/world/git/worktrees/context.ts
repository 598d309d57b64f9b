import crypto from 'node:crypto'
import path from 'node:path'
import { sessionId } from '../../../core/session/session-id-and-name.ts'
import type { Git } from '../git.ts'
import { findGit, type GitEnvironment } from '../git-settings.ts'
import { gitAtTop, type RepositoryCache } from '../repository-context.ts'
import type { RepositoryContext } from '../repository-context.ts'
import type { Repository } from '../repository.ts'

/** Our refs that are not checkpoints. They lie outside the checkpoint refs, which we search, push and fetch. */
const LOOP_REFS = 'refs/oneshot-loop'

/** Snapshots of finished work: `<session id>/<name>` below this ref. */
export const WORK_REFS = `${LOOP_REFS}/work`

/** Settings in addition to those for checkpoints: other programs read these indexes, too. */
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

const ENV = { GIT_EDITOR: 'true', GIT_MERGE_AUTOEDIT: 'no', GIT_REFLOG_ACTION: 'oneshot' }

export async function findWorktreesGit(env: NodeJS.ProcessEnv): Promise<GitEnvironment> {
  const environment = await findGit(env)
  const options = [...environment.options, ...SETTINGS.flatMap(setting => ['-c', setting])]
  return { ...environment, options, env: { ...environment.env, ...ENV } }
}

/** Stands in the place of a session's id, because snapshots of worktrees belong to no session. */
const WORKSHOP = sessionId('workshop')

/** Opens the context of a worktree for snapshots and operations. */
export async function openWorktreeContext(
  git: Git,
  cache: RepositoryCache,
  largest?: number,
): Promise<RepositoryContext> {
  const repository = await cache.repository(git)
  return {
    sessionId: WORKSHOP,
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

/** Returns a word for a path that is valid in a ref name and in a file name. */
export function pathHash(file: string): string {
  return crypto.createHash('sha256').update(file).digest('hex').slice(0, 16)
}

/** Returns the ref of the last snapshot of a worktree. */
export function snapshotRef(top: string): string {
  return `${LOOP_REFS}/seen/${pathHash(top)}`
}

/**
 * Returns the backup ref of a branch. Its name has no slashes, because a branch may lie below the name of another one.
 */
export function backupRef(branch: string): string {
  return `${LOOP_REFS}/kept/${branch.replaceAll('/', '+')}`
}

/** Returns our folder in a worktree's own git folder; git removes it together with the worktree. */
function worktreeStateFolder({ gitDir }: Repository): string {
  return path.join(gitDir, 'oneshot', 'looks')
}

/** Returns our folder in the git folder that all worktrees share. */
export function sharedStateFolder({ commonDir }: Repository): string {
  return path.join(commonDir, 'oneshot', 'workshop')
}
