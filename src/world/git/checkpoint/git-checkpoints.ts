import fs from 'node:fs'
import path from 'node:path'
import type { DiffStat, Checkpoint } from '../../../core/checkpoint/checkpoint.ts'
import { isSessionId, type SessionId } from '../../../core/session/session-id-and-name.ts'
import { isRefusal } from '../../../lib/errors.ts'
import type { Duration, Instant } from '../../../lib/time.ts'
import { invariant, Trouble } from '../../../lib/errors.ts'
import { KeyedMutex } from '../../../lib/keyed-mutex.ts'
import {
  type CheckpointFetcher,
  type Checkpoints,
  type SessionFilter,
  type ClaimRequest,
  type FetchResult,
  type SavedSession,
  type CheckpointTarget,
  type SaveResult,
  type CheckpointRequest,
  type Remote,
  NotSaved,
} from '../../../ports/checkpoints.ts'
import { sessionFolder } from '../../../state/session-folder.ts'
import type { Home } from '../../../state/home.ts'
import { readHistory } from './history.ts'
import { compareWorktree } from './diff.ts'
import { diffStat, diff } from './diff.ts'
import { claimSession } from './remote/claim-session.ts'
import { removeCheckpoints, removeSessionRefs } from './prune-checkpoints.ts'
import { Git } from '../git.ts'
import { saveGoal, readGoal } from './messages-ref.ts'
import { toCheckpoint } from './read-commits.ts'
import { findGit, type GitEnvironment } from '../git-settings.ts'
import { gitAtTop, RepositoryCache } from '../repository-context.ts'
import { openContext, type RepositoryContext, checkpointRef, recordTop } from '../repository-context.ts'
import { push } from './remote/push.ts'
import { findSavedSessions, readCheckpoint, findCheckpoint, readRecord } from './history.ts'
import { fetchSessions, undoFetch } from './remote/fetch.ts'
import { recordLazyFetch } from '../lazy-fetch-record.ts'
import { recordRemotes } from './remote/remote-url.ts'
import { findTop } from '../repository.ts'
import { recordRepository } from '../assert-same-repository.ts'
import { type RestoreDestination, restoreToBranch } from './restore/to-branch.ts'
import { restoreInPlace } from './restore/in-place.ts'
import { save } from './save/save.ts'
import type { SaveOptions } from './save/save-types.ts'
import { pruneCheckpoints } from './prune-checkpoints.ts'

type Env = Readonly<Record<string, string>>

export interface GitCheckpointsOptions {
  readonly env: NodeJS.ProcessEnv
  /** Returns the folder that holds the session's private index. */
  readonly folderOf: (sessionId: SessionId) => string
  /** Bytes; a checkpoint leaves out larger files. */
  readonly maxFileSize?: number
  /** Bytes that one fetch may transfer. */
  readonly maxFetchSize?: number
  /** The time limit for the list of a remote's refs before a fetch. */
  readonly listTimeout?: Duration
  /** Returns the secret values of the session's environment, which a push must not contain. */
  readonly secretsOf?: (sessionId: SessionId) => readonly string[]
  /** The time limit for one chain of git processes. */
  readonly timeout?: Duration
  /** Identifies our git processes after the process that started them was killed. */
  readonly marker?: string
}

/** Bytes. A larger file is data that nobody writes in a session, and git stores every version of it whole. */
const MAX_FILE_SIZE = 50 * 1024 * 1024
/** The first scan of a large repository on a slow disk takes minutes. */
const TIMEOUT: Duration = 10 * 60_000

const NEVER_ABORTED = new AbortController().signal

/** Creates the checkpoints of this home's sessions. */
export function gitCheckpoints(
  home: Home,
  options: Pick<GitCheckpointsOptions, 'secretsOf' | 'marker'> = {},
): GitCheckpoints {
  const folderOf = (id: SessionId): string => path.join(sessionFolder(home, id).root, 'git')
  return new GitCheckpoints({ env: process.env, folderOf, ...options })
}

/** Stores checkpoints in git, and disturbs no other user of the same repository. */
export class GitCheckpoints implements Checkpoints, CheckpointFetcher {
  readonly #env: NodeJS.ProcessEnv
  readonly #folderOf: (sessionId: SessionId) => string
  readonly #maxFileSize: number
  readonly #secretsOf: (sessionId: SessionId) => readonly string[]
  readonly #timeout: Duration
  readonly #maxFetchSize: number | undefined
  readonly #listTimeout: Duration | undefined
  readonly #marker: Readonly<Record<string, string>>
  readonly #cache = new RepositoryCache()
  readonly #mutex = new KeyedMutex()
  #environment: GitEnvironment | undefined

  constructor(options: GitCheckpointsOptions) {
    const { env, folderOf, maxFileSize = MAX_FILE_SIZE, timeout = TIMEOUT, secretsOf = () => [], marker } = options
    this.#env = env
    this.#maxFetchSize = options.maxFetchSize
    this.#listTimeout = options.listTimeout
    this.#folderOf = id => {
      // The id becomes part of a path that we write to and remove, and it may come from a remote.
      if (!isSessionId(id)) throw new NotSaved(`${JSON.stringify(id)} is no id of a session`)
      return folderOf(id)
    }
    this.#maxFileSize = maxFileSize
    this.#secretsOf = secretsOf
    this.#timeout = timeout
    this.#marker = marker === undefined ? {} : { ONESHOT_ATTEMPT: marker }
  }

  isRepository(cwd: string): boolean {
    return this.worktreeRoot(cwd) !== null
  }

  worktreeRoot(cwd: string): string | null {
    return fs.existsSync(cwd) ? (findTop(cwd)?.top ?? null) : null
  }

  save(target: CheckpointTarget, request: CheckpointRequest, ending: AbortSignal): Promise<SaveResult> {
    const options: SaveOptions = { request, maxFileSize: this.#maxFileSize, number: 1 }
    return this.#exclusively(`saving the work of ${target.name}`, target, ending, async context => {
      recordTop(context)
      recordRepository({ ...context, cwd: target.cwd })
      recordRemotes(context)
      await recordLazyFetch(context.git, context.folder)
      if (request.goal !== undefined) await saveGoal(context, request.goal)
      const { created, previous, leftOut } = await save(context, options)
      const newest = created ?? previous
      invariant(newest !== null, 'a first checkpoint is always made')
      return { checkpoint: { ...toCheckpoint(newest), leftOut }, isNew: created !== null }
    })
  }

  list(target: CheckpointTarget): Promise<Checkpoint[]> {
    return this.#withContext(target, async context => (await readHistory(context)).map(toCheckpoint))
  }

  readRecord(target: CheckpointTarget, commit: string): Promise<string> {
    return this.#withContext(target, context => readRecord(context, commit))
  }

  prune(target: CheckpointTarget, now: Instant): Promise<number> {
    return this.#exclusively(`thinning the checkpoints of ${target.name}`, target, null, context =>
      pruneCheckpoints(context, now),
    )
  }

  push(target: CheckpointTarget, remote: string, env: Env, ending: AbortSignal): Promise<string | null> {
    return this.#withContext(target, context => push(context, remote, env), ending)
  }

  claim(target: CheckpointTarget, request: ClaimRequest): Promise<() => Promise<void>> {
    return this.#withContext(target, context => claimSession(context, request))
  }

  readMessages(target: CheckpointTarget): Promise<readonly string[] | null> {
    return this.#withContext(target, readGoal)
  }

  fetch(cwd: string, from: Remote, choose: SessionFilter, ending: AbortSignal): Promise<FetchResult> {
    return this.#withGit(
      cwd,
      git => fetchSessions(git, { ...from, choose, most: this.#maxFetchSize, listTimeout: this.#listTimeout }),
      ending,
    )
  }

  /** Undoes a fetch that the caller made only to read. */
  undoFetch(cwd: string, fetched: FetchResult): Promise<void> {
    return this.#withGit(cwd, git => undoFetch(git, fetched))
  }

  remotes(cwd: string): Promise<string[]> {
    return this.#withGit(cwd, async git => splitLines(await git.run(['remote'])))
  }

  async findSessions(cwd: string, name?: string): Promise<SavedSession[]> {
    return this.#withGit(cwd, git => findSavedSessions(git, name))
  }

  diff(target: CheckpointTarget, from: string, to: string, options: { stat: boolean }): Promise<string> {
    return this.#withContext(target, context => diff(context, { from, to }, options))
  }

  diffStat(target: CheckpointTarget, from: string, to: string): Promise<DiffStat> {
    return this.#withContext(target, context => diffStat(context, { from, to }))
  }

  compareWorktree(
    target: CheckpointTarget,
    since: Checkpoint | null,
  ): Promise<{ change: DiffStat; head: string | null }> {
    return this.#exclusively(`looking at the work of ${target.name}`, target, null, async context =>
      compareWorktree(
        context,
        since === null ? null : (await readCheckpoint(context, since.commit)).tree,
        this.#maxFileSize,
      ),
    )
  }

  restoreToBranch(
    target: CheckpointTarget,
    checkpoint: Checkpoint,
    to: RestoreDestination,
  ): Promise<readonly string[]> {
    return this.#exclusively(`restoring ${target.name}`, target, null, async context =>
      restoreToBranch(context, await findCheckpoint(context, checkpoint), to),
    )
  }

  restoreInPlace(target: CheckpointTarget, checkpoint: Checkpoint, over: Checkpoint): Promise<readonly string[]> {
    return this.#exclusively(`restoring ${target.name}`, target, null, async context =>
      restoreInPlace(
        context,
        await findCheckpoint(context, checkpoint),
        await findCheckpoint(context, over),
        this.#maxFileSize,
      ),
    )
  }

  switchToNewBranch(target: CheckpointTarget, branch: string, commit: string): Promise<void> {
    const args = ['switch', '--quiet', '--no-track', '-c', branch, commit]
    return this.#exclusively(`going over to ${branch}`, target, null, async ({ git, umask }) => {
      await git.run(args, { umask })
    })
  }

  commitSubjects(cwd: string, since: string, limit: number): Promise<string[]> {
    return this.#withGit(cwd, async git => {
      return splitLines(await git.run(['log', `--max-count=${limit}`, '--format=%h %s', `${since}..HEAD`]))
    })
  }

  removeAll(target: CheckpointTarget): Promise<void> {
    return this.#exclusively(`forgetting the checkpoints of ${target.name}`, target, null, removeCheckpoints)
  }

  /** Removes only the refs of a session that this home does not know. */
  removeRefs({ cwd, name, sessionId }: CheckpointTarget): Promise<void> {
    return this.#withGit(cwd, git => removeSessionRefs({ git, ref: checkpointRef(name, sessionId), sessionId }))
  }

  /** Runs one chain at a time per repository; the time limit starts when the chain gets the lock. */
  async #exclusively<T>(
    doing: string,
    target: CheckpointTarget,
    ending: AbortSignal | null,
    work: (context: RepositoryContext) => Promise<T>,
  ): Promise<T> {
    return wrapTrouble(doing, async () => {
      const { repository } = await this.#openContext(target, ending)
      return this.#mutex.run(repository.commonDir, async () => work(await this.#openContext(target, ending)))
    })
  }

  /** Runs work that only reads or waits for a network, without the lock. */
  async #withContext<T>(
    target: CheckpointTarget,
    work: (context: RepositoryContext) => Promise<T>,
    ending?: AbortSignal,
  ): Promise<T> {
    return wrapTrouble(`reading the checkpoints of ${target.name}`, async () =>
      work(await this.#openContext(target, ending ?? null)),
    )
  }

  async #withGit<T>(cwd: string, work: (git: Git) => Promise<T>, ending?: AbortSignal): Promise<T> {
    return wrapTrouble(`reading the checkpoints in ${cwd}`, async () => {
      const git = await this.#createGit(cwd, ending ?? null)
      return work(gitAtTop(git, await this.#cache.repository(git)))
    })
  }

  async #openContext(target: CheckpointTarget, ending: AbortSignal | null): Promise<RepositoryContext> {
    const git = await this.#createGit(target.cwd, ending)
    const context = await openContext(target, git, this.#cache, this.#folderOf(target.sessionId))
    return target.withholdsSecrets ? { ...context, secrets: this.#secretsOf(target.sessionId) } : context
  }

  async #createGit(cwd: string, ending: AbortSignal | null): Promise<Git> {
    this.#environment ??= await findGit({ ...this.#env, ...this.#marker })
    return new Git(this.#environment, cwd, ending ?? NEVER_ABORTED, Date.now() + this.#timeout)
  }
}

function splitLines(output: Buffer): string[] {
  return output
    .toString()
    .split('\n')
    .filter(line => line !== '')
}

async function wrapTrouble<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const isAnswer = cause instanceof NotSaved || cause instanceof Trouble || isRefusal(cause)
    throw isAnswer ? cause : new Trouble(doing, cause)
  }
}
