import fs from 'node:fs'
import path from 'node:path'
import type { FileChange, DetailedEvidence, Snapshot } from '../../../core/loop/work-evidence.ts'
import type { Duration } from '../../../lib/time.ts'
import { displayPath, joinBelow, splitRawPaths } from '../../../lib/text/raw-path.ts'
import type {
  GitCommand,
  GitLock,
  Worktree,
  RemoveResult,
  Head,
  Hindrance,
  TreeFile,
  EvidenceOptions,
  MergeResult,
} from '../../../ports/worktrees.ts'
import type { ReturnResult, RepositoryState, UserRefs, Worktrees } from '../../../ports/worktrees.ts'
import { checkIgnore } from '../checkpoint/save/stage-changes.ts'
import { lstat } from '../../../os/files/lstat-if-exists.ts'
import { Git } from '../git.ts'
import type { GitEnvironment } from '../git-settings.ts'
import { RepositoryCache } from '../repository-context.ts'
import { findTop, NoRepository } from '../repository.ts'
import { readGitFolder } from '../guard/find-and-check-git-folder.ts'
import type { RepositoryContext } from '../repository-context.ts'
import { recordLazyFetch } from '../lazy-fetch-record.ts'
import { withRepositoryLock } from './repository-lock.ts'
import { deletedFrom, fileStamps, hindrancesOf, wasPointed } from './detect-checkout-damage.ts'
import { removeWorktree } from './operations/remove.ts'
import { commitPaths } from './operations/commit-paths.ts'
import { diffTreePairs, findUnreachable, readTree, findMovedPaths, type TreePair } from './revisions/diff-trees.ts'
import { collectEvidence, takeSnapshot } from './evidence/evidence.ts'
import { backUpCommit, backUpRefs } from './backup-refs.ts'
import { backUpFiles } from './backup-refs.ts'
import { readLog } from './inspect-checkout.ts'
import { initRepository } from './init-repository.ts'
import { landBranch, type LandResult, type LandOptions } from './operations/land.ts'
import { listCheckoutLocks, retryWhileLocked } from './retry-while-locked.ts'
import { ownLocks } from './own-lock-files.ts'
import { startMerge, mergeBranch } from './operations/merge.ts'
import { ownershipEntry, failPermanently, wrapTrouble } from './journal.ts'
import { isIntact, relinkMoved, repairWorktree } from './operations/repair.ts'
import { openWorktree } from './operations/open.ts'
import { resetBranch } from './operations/reset.ts'
import { commitAll } from './operations/commit-work.ts'
import { findWorktreesGit, openWorktreeContext, sharedStateFolder } from './context.ts'
import { resolveCommit } from './revisions/resolve-commits.ts'
import { readTrace, hasChangedCheckout } from './evidence/git-trace.ts'
import { readCheckedOut } from './inspect-checkout.ts'
import { returnToBranch } from './return-to-branch.ts'
import { readUserRefs } from './revisions/read-refs-from-files.ts'
import { inspectCheckout } from './inspect-checkout.ts'
import { findTraceFile } from './evidence/git-trace.ts'
import { readBlobs, readTextChanges } from './revisions/text-changes.ts'
import { findUnresolvedConflicts } from './evidence/conflict-markers.ts'

export interface GitWorktreesOptions {
  readonly env?: NodeJS.ProcessEnv
  /** The time limit of one call, including its waiting. */
  readonly timeout?: Duration
  /** Bytes; snapshots and backups leave out larger files. */
  readonly maxFileSize?: number
  /** The folder of the loop's own files. Without it, git fetches no objects that a partial clone lacks. */
  readonly recordFolder?: string
}

/** A checkout of a large repository on a slow disk takes minutes, and other processes may hold the lock. */
const TIMEOUT: Duration = 15 * 60_000

export function gitWorktrees(options: GitWorktreesOptions = {}): Worktrees {
  return new GitWorktrees(options)
}

class GitWorktrees implements Worktrees {
  readonly #env: NodeJS.ProcessEnv
  readonly #timeout: Duration
  readonly #maxFileSize: number | undefined
  readonly #recordFolder: string | undefined
  readonly #cache = new RepositoryCache({ isOfOneJob: true })
  #environment: GitEnvironment | undefined
  /** The history of a commit does not change. */
  #lastLog: { readonly key: string; readonly log: Awaited<ReturnType<typeof readLog>> } = { key: '', log: [] }

  constructor({ env = process.env, timeout = TIMEOUT, maxFileSize, recordFolder }: GitWorktreesOptions) {
    this.#env = env
    this.#timeout = timeout
    this.#maxFileSize = maxFileSize
    this.#recordFolder = recordFolder
  }

  inspect(cwd: string): Promise<RepositoryState | null> {
    return wrapTrouble(`looking at ${cwd}`, async () => {
      try {
        return await inspectCheckout(
          await openWorktreeContext(await this.#createGit(cwd), this.#cache, this.#maxFileSize),
        )
      } catch (cause) {
        if (cause instanceof NoRepository) return null
        throw cause
      }
    })
  }

  hasFolder(cwd: string): boolean {
    return fs.existsSync(cwd)
  }

  hasRepository(top: string): boolean {
    return fs.existsSync(path.join(top, '.git'))
  }

  initRepository(cwd: string): Promise<void> {
    return wrapTrouble(`making a repository of ${cwd}`, async () =>
      initRepository(await this.#createGit(cwd), this.#cache),
    )
  }

  snapshot(cwd: string, keepAs?: string): Promise<Snapshot> {
    return this.#withContext(cwd, context => takeSnapshot(context, keepAs))
  }

  collectEvidence(
    cwd: string,
    since: Snapshot,
    excludedPaths: readonly string[],
    how: EvidenceOptions = {},
  ): Promise<DetailedEvidence> {
    return this.#withContext(cwd, context =>
      collectEvidence(context, fs.realpathSync(cwd), { since, excludedPaths, ...how }),
    )
  }

  diffTrees(cwd: string, pairs: readonly TreePair[]): Promise<(readonly FileChange[] | null)[]> {
    return this.#withContext(cwd, context => diffTreePairs(context, pairs))
  }

  listTree(cwd: string, tree: string): Promise<ReadonlyMap<string, string>> {
    return this.#withContext(cwd, context => readTree(context, tree))
  }

  listFiles(cwd: string): Promise<{ top: string; files: readonly string[]; ignored: readonly string[] }> {
    return this.#withContext(cwd, async ({ git, repository }) => {
      const list = async (...which: string[]): Promise<string[]> => {
        const output = await git.run(['ls-files', '-z', '--others', '--exclude-standard', ...which])
        return [...new Set(splitRawPaths(output).map(displayPath))]
      }
      const ignored = await list('--ignored', '--directory')
      return { top: repository.top, files: await list('--cached'), ignored }
    })
  }

  readBlobs(cwd: string, hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#withContext(cwd, context => readBlobs(context, hashes))
  }

  readTextChanges(
    at: { readonly cwd: string; readonly top: string },
    changed: Parameters<Worktrees['readTextChanges']>[1],
  ): ReturnType<Worktrees['readTextChanges']> {
    return readTextChanges(this, at, changed)
  }

  findConflictMarkers(top: string, files: readonly string[]): string[] {
    return findUnresolvedConflicts(top, files)
  }

  fileStamps(top: string, paths: readonly string[]): ReadonlyMap<string, string> {
    return fileStamps(top, paths)
  }

  findMovedPaths(cwd: string, pair: TreePair, paths: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#withContext(cwd, context => findMovedPaths(context, pair, paths))
  }

  findUnreachable(cwd: string, commits: readonly string[], from = 'HEAD'): Promise<readonly string[]> {
    return this.#withContext(cwd, context => findUnreachable(context, commits, from))
  }

  log(cwd: string, limit: number): Promise<readonly { id: string; subject: string }[]> {
    return this.#withContext(cwd, async context => {
      const { commit } = await readCheckedOut(context)
      if (commit === null) return []
      const key = `${context.repository.commonDir} ${commit} ${limit}`
      if (this.#lastLog.key !== key)
        this.#lastLog = { key, log: await readLog(context, [`--max-count=${limit}`, commit, '--']) }
      return this.#lastLog.log
    })
  }

  traceFile(cwd: string, name: string): Promise<string | null> {
    return this.#withContext(cwd, ({ git, repository }) => findTraceFile(git, repository, name))
  }

  findIgnored(cwd: string, paths: readonly string[]): Promise<ReadonlyMap<string, boolean>> {
    return this.#withContext(cwd, async context => {
      const ignored = (await checkIgnore(context, paths)) ?? []
      const isPresent = (file: string): boolean => lstat(joinBelow(context.repository.top, file))?.isFile() === true
      return new Map(ignored.map(file => [file, isPresent(file)]))
    })
  }

  head(cwd: string): Promise<Head> {
    return this.#withContext(cwd, readCheckedOut)
  }

  hindrances(cwd: string): Promise<readonly Hindrance[]> {
    return wrapTrouble(`looking at ${cwd}`, async () => hindrancesOf(await this.#createGit(cwd)))
  }

  deleted(cwd: string, commit: string): Promise<readonly string[]> {
    return this.#withContext(cwd, place => deletedFrom(place, commit))
  }

  wasPointed(cwd: string, { reflog }: Head, branch: string | null): Promise<boolean> {
    return this.#withContext(cwd, async ({ repository }) => wasPointed(repository.gitDir, reflog, branch))
  }

  userRefs(cwd: string): Promise<UserRefs | null> {
    return this.#withContext(cwd, async context => readUserRefs(context))
  }

  listLocks(cwd: string): readonly GitLock[] {
    try {
      const folder = readGitFolder(findTop(cwd)?.top ?? cwd)
      return folder === null ? [] : listCheckoutLocks({ gitDir: folder.own, commonDir: folder.shared })
    } catch {
      return [] // The folder vanished: the next call reports that.
    }
  }

  readTrace(trace: string): readonly GitCommand[] {
    return readTrace(trace)
  }

  removeTrace(trace: string): void {
    fs.rmSync(trace, { force: true })
  }

  backUpRefs(cwd: string, name: string, refs: ReadonlyMap<string, string>): Promise<void> {
    return this.#withContext(cwd, ({ git }) => backUpRefs(git, name, refs))
  }

  hasChangedCheckout(cwd: string, trace: string): Promise<boolean> {
    return this.#withContext(cwd, async ({ repository }) => hasChangedCheckout(trace, repository.top))
  }

  backUpCommit(cwd: string, name: string, commit: string): Promise<void> {
    return this.#withContext(cwd, ({ git }) => backUpCommit(git, name, commit))
  }

  backUpFiles(cwd: string, name: string, files: readonly TreeFile[]): Promise<string> {
    return this.#withContext(cwd, context => backUpFiles(context, name, files))
  }

  async repair(cwd: string, worktree: Worktree, commit: string): Promise<'folder' | 'branch' | null> {
    const isThere = await this.#withContext(cwd, async context => isIntact(context, worktree))
    return isThere
      ? null
      : this.#exclusively(`mending ${worktree.branch}`, cwd, worktree, context =>
          repairWorktree(context, worktree, commit),
        )
  }

  relink(cwd: string, folders: readonly string[]): Promise<void> {
    return this.#exclusively('linking the worktrees of a moved project', cwd, null, context =>
      relinkMoved(context, folders),
    )
  }

  returnToBranch(cwd: string, branch: string, since: Pick<Snapshot, 'head' | 'reflog'> | null): Promise<ReturnResult> {
    return this.#withContext(cwd, context => returnToBranch(context, branch, since))
  }

  branchTip(cwd: string, branch: string): Promise<string | null> {
    return this.#withContext(cwd, ({ git }) => resolveCommit(git, `refs/heads/${branch}`))
  }

  open(cwd: string, worktree: Worktree, from: string): Promise<void> {
    return this.#exclusively(`opening a worktree for ${worktree.branch}`, cwd, worktree, context =>
      openWorktree(context, worktree, from),
    )
  }

  commitAll(
    worktree: Worktree,
    message: string,
    excludedPaths: readonly string[],
    base: string,
    verified?: Snapshot,
  ): Promise<string> {
    return this.#inWorktree(`committing the work on ${worktree.branch}`, worktree, context =>
      commitAll(context, { worktree, message, excludedPaths, base, verified: verified ?? null }),
    )
  }

  merge(worktree: Worktree, branch: string, message: string, onto?: string): Promise<MergeResult> {
    return this.#inWorktree(`merging ${branch}`, worktree, context => mergeBranch(context, branch, message, onto))
  }

  startMerge(worktree: Worktree, branch: string): Promise<readonly string[]> {
    return this.#inWorktree(`merging ${branch}`, worktree, context => startMerge(context, branch))
  }

  commitPaths(worktree: Worktree, paths: readonly string[], message: string, onto?: string): Promise<string> {
    return this.#inWorktree(`committing to ${worktree.branch}`, worktree, context =>
      commitPaths(context, { paths, message, onto }),
    )
  }

  remove(cwd: string, worktree: Worktree, into: string): Promise<RemoveResult> {
    return this.#exclusively(`clearing ${worktree.branch}`, cwd, worktree, context =>
      removeWorktree(context, worktree, into),
    )
  }

  reset(worktree: Worktree, commit: string): Promise<void> {
    return this.#inWorktree(`rewinding ${worktree.branch}`, worktree, context => resetBranch(context, worktree, commit))
  }

  land(cwd: string, branch: string, message: string, how: LandOptions = {}): Promise<LandResult> {
    return this.#exclusively(`landing ${branch}`, cwd, null, context => landBranch(context, branch, message, how))
  }

  /** Runs work in a worktree of ours. */
  #inWorktree<T>(doing: string, worktree: Worktree, work: (context: RepositoryContext) => Promise<T>): Promise<T> {
    return this.#exclusively(doing, worktree.path, worktree, async context => {
      const { gitDir, top } = context.repository
      const isOurs = top === fs.realpathSync(worktree.path) && ownershipEntry(gitDir).read()?.branch === worktree.branch
      if (!isOurs)
        failPermanently(doing, `${worktree.path} is not the worktree that oneshot opened for ${worktree.branch}`)
      return work(context)
    })
  }

  /**
   * Runs one operation at a time per repository, and repeats it while git's locks block it. `worktree`: no other
   * process moves its branch.
   */
  #exclusively<T>(
    doing: string,
    cwd: string,
    worktree: Worktree | null,
    work: (context: RepositoryContext) => Promise<T>,
  ): Promise<T> {
    return wrapTrouble(doing, async () => {
      const git = await this.#createGit(cwd)
      const { repository } = await openWorktreeContext(git, this.#cache, this.#maxFileSize)
      return withRepositoryLock(sharedStateFolder(repository), git.signal, async holder => {
        const context = await openWorktreeContext(git.withCwd(cwd, holder.env), this.#cache, this.#maxFileSize)
        const ours = (): string[] => ownLocks(context, worktree, holder)
        return retryWhileLocked({ signal: git.signal, ours, folders: repository }, () => work(context))
      })
    })
  }

  #withContext<T>(cwd: string, work: (context: RepositoryContext) => Promise<T>): Promise<T> {
    return wrapTrouble(`looking at ${cwd}`, async () => {
      const git = await this.#createGit(cwd)
      const context = await openWorktreeContext(git, this.#cache, this.#maxFileSize)
      return retryWhileLocked({ signal: git.signal, ours: () => [], folders: context.repository }, () => work(context))
    })
  }

  async #createGit(cwd: string): Promise<Git> {
    this.#environment ??= await findWorktreesGit(this.#env)
    const git = new Git(
      this.#environment,
      fs.existsSync(cwd) ? fs.realpathSync(cwd) : cwd,
      AbortSignal.timeout(this.#timeout),
    )
    // A checkout needs all files, also those that a partial clone has to fetch.
    return this.#recordFolder === undefined ? git : git.withLazyFetch(await recordLazyFetch(git, this.#recordFolder))
  }
}
