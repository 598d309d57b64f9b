import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { isSessionId, type SessionId } from '../../core/session/session-id-and-name.ts'
import { type RawPath, displayPath, joinBelow, rawPath } from '../../lib/text/raw-path.ts'
import { slugify } from '../../lib/text/slug.ts'
import { type CheckpointTarget, NotSaved } from '../../ports/checkpoints.ts'
import { replaceFile } from '../../os/files/file-io.ts'
import type { Git } from './git.ts'
import { isTreePath } from './is-safe-tree-path.ts'
import { lstat } from '../../os/files/lstat-if-exists.ts'
import { type Repository, findRepository, findTop } from './repository.ts'
import { resolveFromFiles } from './resolve-object-without-git.ts'
import { assertSameRepository, isOwnNestedRepository } from './assert-same-repository.ts'
import type { CheckpointCommit } from './checkpoint/read-commits.ts'
import type { IndexSeed } from './checkpoint/save/index-file.ts'
import type { FileDiff } from './checkpoint/save/tree-diff.ts'

/** A repository with checkpoints: that of a session's folder, or one inside its working tree. */
export interface RepositoryContext {
  readonly sessionId: SessionId
  /** Runs at the top of the working tree. */
  readonly git: Git
  readonly repository: Repository
  readonly ref: string
  /** The folder of the private index and its other state. */
  readonly folder: string
  /** The path from the outermost working tree; empty for the outermost one itself. */
  readonly path: RawPath
  readonly cache: RepositoryCache
  /** The umask for files in the working tree. */
  readonly umask: number
  /** Bytes; the limit for files, unless the caller sets its own. */
  readonly maxFileSize?: number | undefined
  /** True if git may run in nested repositories that are neither submodules nor worktrees of this one. */
  readonly savesNested?: boolean
  /** Secret values of the session; if present, checkpoints leave out untracked files that look like secrets. */
  readonly secrets?: readonly string[] | undefined
}

const DEFAULT_UMASK = 0o022

/** The prefix of all checkpoint refs: `refs/oneshot/NAME/ID`. */
export const CHECKPOINT_REFS = 'refs/oneshot'

export async function openContext(
  target: CheckpointTarget,
  git: Git,
  cache: RepositoryCache,
  folder: string,
): Promise<RepositoryContext> {
  const { sessionId, name, umask = DEFAULT_UMASK, nested = false } = target
  const repository = await cache.repository(git.withCwd(existingFolder(target.cwd, folder)))
  assertSameRepository({ cwd: target.cwd, repository, folder })
  const ref = checkpointRef(name, sessionId)
  return {
    sessionId,
    git: gitAtTop(git.withUmask(umask), repository),
    repository,
    ref,
    folder,
    path: '',
    cache,
    umask,
    savesNested: nested,
  }
}

export function checkpointRef(name: string, sessionId: SessionId): string {
  const ref = `${CHECKPOINT_REFS}/${name}/${sessionId}`
  if (parseRef(ref) !== null) return ref
  throw new NotSaved(`${JSON.stringify(`${name}/${sessionId}`)} is no name of a session`)
}

/** Returns the session's folder or, if somebody removed it, the recorded top of its working tree. */
function existingFolder(cwd: string, folder: string): string {
  if (fs.existsSync(cwd)) return cwd
  const top = readOrDefault(path.join(folder, 'top'), cwd)
  return fs.existsSync(top) ? top : cwd
}

/** Records the top of the working tree, in case the session's folder is removed. */
export function recordTop({ repository, folder }: RepositoryContext): void {
  const file = path.join(folder, 'top')
  if (readOrDefault(file, '') === repository.top) return
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  replaceFile(file, repository.top)
}

function readOrDefault(file: string, otherwise: string): string {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return otherwise
  }
}

/**
 * Returns the repository at this path of another one's working tree; null if there is none. Its ref has its own name,
 * because a nested worktree shares the refs with the outer one.
 */
export async function openNested(outer: RepositoryContext, relative: RawPath): Promise<RepositoryContext | null> {
  const folder = joinBelow(outer.repository.top, relative).toString()
  if (!isTreePath(relative)) return null
  // A path that is no text cannot be the working folder of a program.
  if (rawPath(Buffer.from(folder)) !== rawPath(joinBelow(outer.repository.top, relative))) return null
  if (lstat(path.join(folder, '.git')) === undefined) return null
  const looking = outer.git.withCwd(folder, { GIT_CEILING_DIRECTORIES: path.dirname(folder) })
  const repository = await outer.cache.repository(looking)
  if (repository.top !== folder) return null
  if (!isOwnNestedRepository(repository, outer.repository))
    throw new NotSaved(`its .git leads to another repository, ${repository.commonDir}`)
  const git = gitAtTop(looking, repository)
  const whole = outer.path === '' ? relative : `${outer.path}/${relative}`
  const inside = path.join(outer.path === '' ? outer.folder : path.dirname(outer.folder), nestedSuffix(whole))
  return { ...outer, git, repository, ref: nestedRef(outer, whole), folder: inside, path: whole }
}

export function nestedRef(outer: RepositoryContext, whole: RawPath): string {
  return `${outer.ref.split('+')[0]}${nestedSuffix(whole)}`
}

export function nestedSuffix(whole: RawPath): string {
  const hash = crypto.createHash('sha256').update(whole, 'latin1').digest('hex').slice(0, 8)
  return `+${slugify(displayPath(whole), 'nested')}-${hash}`
}

/** Returns the session that a ref's name contains; null if the name does not have our format. */
export function parseRef(ref: string): { name: string; sessionId: SessionId; suffix: string } | null {
  const [, name, sessionId, suffix = ''] =
    /^refs\/oneshot\/([a-z0-9][a-z0-9-]{0,99})\/([a-z0-9]{1,20})(\+[a-z0-9-]{1,60})?$/.exec(ref) ?? []
  return name === undefined || sessionId === undefined || !isSessionId(sessionId) ? null : { name, sessionId, suffix }
}

/** The result of a search for secrets in a file. */
export interface SearchedFile {
  /** Identifies the content of the file and the list of values. */
  readonly stamp: string
  /** The indexes of the values in the file. */
  readonly foundValues: ReadonlySet<number>
  readonly hasToken: boolean
}

/** Caches answers of git that we can check without git. */
export class RepositoryCache {
  /** The newest checkpoints, by the files of their refs. */
  readonly tips = new Map<string, CheckpointCommit>()
  /** Trees that fit on the disk. */
  readonly checkedTrees = new Set<string>()
  /** The stored messages, by the refs of their sessions. */
  readonly goals = new Map<string, string>()
  readonly searchedFiles = new Map<string, SearchedFile>()
  /** The newest private index of each working tree, by its top. */
  readonly indexSeeds = new Map<string, IndexSeed>()
  /** The files that differ between the last two trees that were staged; `trees` is `FROM TO`. Trees never change. */
  lastTreeDiff: { readonly trees: string; readonly files: readonly FileDiff[] } | null = null
  readonly #repositories = new Map<string, { mark: string; repository: Repository }>()
  readonly #isPinned: boolean

  /** `isOfOneJob`: refuses if a folder starts to belong to another repository during the cache's lifetime. */
  constructor({ isOfOneJob = false }: { isOfOneJob?: boolean } = {}) {
    this.#isPinned = isOfOneJob
  }

  /** Returns the repository of git's working folder. */
  async repository(git: Git): Promise<Repository> {
    const here = findTop(git.cwd)
    const known = this.#repositories.get(git.cwd)
    if (known !== undefined && here?.top === known.repository.top && here.mark === known.mark) return known.repository
    const repository = await findRepository(git)
    if (this.#isPinned && known !== undefined && known.repository.commonDir !== repository.commonDir)
      throw new NotSaved(`${git.cwd} belongs to another repository now: ${repository.commonDir}`)
    if (here?.top === repository.top) this.#repositories.set(git.cwd, { mark: here.mark, repository })
    return repository
  }
}

/**
 * Returns git at the top of a working tree. It does not search parent folders if the repository is gone, and works in
 * no other repository.
 */
export function gitAtTop(git: Git, repository: Repository): Git {
  const { top } = repository
  return git.withCwd(top, { GIT_CEILING_DIRECTORIES: path.dirname(top) }).restrictedTo(repository)
}

/** Returns the checked-out commit; null if there is none yet. */
export async function readHead({ git, repository }: RepositoryContext): Promise<string | null> {
  const fromFiles = resolveFromFiles(repository, 'HEAD^{commit}')
  if (fromFiles !== null) return fromFiles
  const result = await git.tryRun(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])
  return result.code === 0 ? result.stdout.toString().trim() : null
}
