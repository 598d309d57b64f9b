import fs from 'node:fs'
import path from 'node:path'
import { object, oneOf } from '../../../lib/codec.ts'
import { addToGitExclude } from '../../../state/git-exclude.ts'
import type { Git } from '../git.ts'
import { readHead } from '../repository-context.ts'
import { commitIdentity } from '../repository.ts'
import type { RepositoryCache } from '../repository-context.ts'
import type { RepositoryContext } from '../repository-context.ts'
import { findRepository, NoRepository } from '../repository.ts'
import { withRepositoryLock } from './repository-lock.ts'
import { retryWhileLocked } from './retry-while-locked.ts'
import { stageWorkingTree } from './stage-working-tree.ts'
import { JournalEntry } from './journal.ts'
import { openWorktreeContext } from './context.ts'
import { diffTree } from './revisions/diff-trees.ts'
import { revertEntries } from './revisions/edit-tree.ts'

const FIRST_COMMIT_MESSAGE = 'What was there at the beginning'

/**
 * Creates a repository with a first commit in a folder. The journal entry distinguishes an incomplete repository from
 * the user's own.
 */
export async function initRepository(git: Git, cache: RepositoryCache): Promise<void> {
  const folder = path.join(git.cwd, '.git', 'oneshot')
  const entry = new JournalEntry(path.join(folder, 'founding'), object({ isBegun: oneOf(true) }))
  if (entry.read() === null && (await isInRepository(git))) return
  await withRepositoryLock(path.join(folder, 'workshop'), git.signal, async holder => {
    if (entry.read() === null && (await isInRepository(git))) return
    entry.write({ isBegun: true })
    const own = git.withCwd(git.cwd, { ...holder.env, GIT_CEILING_DIRECTORIES: path.dirname(git.cwd) })
    await retryWhileLocked({ signal: git.signal, ours: () => findLocks(path.dirname(folder)), folders: null }, () =>
      createRepository(own, cache),
    )
    entry.remove()
  })
}

/** Returns all locks: no other process has used the repository yet. */
function findLocks(gitDir: string): string[] {
  const names = fs.existsSync(gitDir) ? fs.readdirSync(gitDir) : []
  const refs = path.join(gitDir, 'refs')
  const below = fs.existsSync(refs) ? fs.readdirSync(refs, { recursive: true, encoding: 'utf8' }) : []
  const all = [...names.map(name => path.join(gitDir, name)), ...below.map(name => path.join(refs, name))]
  return all.filter(name => name.endsWith('.lock'))
}

async function createRepository(git: Git, cache: RepositoryCache): Promise<void> {
  const isChosen = (await git.tryRun(['config', 'init.defaultBranch'])).code === 0
  await git.run([...(isChosen ? [] : ['-c', 'init.defaultBranch=main']), 'init', '--quiet'])
  addToGitExclude(git.cwd, ['.agent/'])
  await createFirstCommit(await openWorktreeContext(git, cache))
}

async function createFirstCommit(context: RepositoryContext): Promise<void> {
  const { git, repository } = context
  if ((await readHead(context)) === null) {
    const { tree: all } = await stageWorkingTree(context)
    const strays = (await diffTree(context, repository.emptyIds.tree, all)).filter(entry => entry.isRepository)
    const tree = await revertEntries(context, all, strays)
    const env = await commitIdentity(git)
    const commit = await git.runForLine(['commit-tree', tree], { input: FIRST_COMMIT_MESSAGE, env })
    await git.run(
      ['update-ref', '-m', `commit (initial): ${FIRST_COMMIT_MESSAGE}`, 'HEAD', commit, repository.emptyIds.commit],
      {
        env,
      },
    )
  }
  await git.run(['reset', '--quiet', '--mixed'])
}

/** Returns true if this folder lies in the working tree of a repository. */
async function isInRepository(git: Git): Promise<boolean> {
  try {
    await findRepository(git)
    return true
  } catch (cause) {
    if (cause instanceof NoRepository) return false
    throw cause
  }
}
