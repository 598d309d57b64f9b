import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { type RawPath, displayPath, joinBelow, rawPath } from '../../lib/text/raw-path.ts'
import { slugify } from '../../lib/text/slug.ts'
import { type CheckpointTarget, NotSaved } from '../../ports/checkpoints.ts'
import { replaceFile } from '../../os/files/file-io.ts'
import type { Git } from './git.ts'
import { isTreePath, lstat } from './files.ts'
import { type Repository, findRepository, findTop } from './repository.ts'
import { assertSameRepository, isOwnNestedRepository } from './same-repository.ts'
import type { CheckpointCommit } from './checkpoint/commits.ts'

/** One repository of which checkpoints are kept: that of a session's folder, or one that lies in its working tree. */
export interface RepositoryContext {
  readonly sessionId: string
  /** Runs at the top of its working tree. */
  readonly git: Git
  readonly repository: Repository
  readonly ref: string
  /** Of its private index and what belongs to that. */
  readonly folder: string
  /** From the outermost working tree; empty for that one itself. */
  readonly path: RawPath
  readonly cache: RepositoryCache
  /** Of what is written into its working tree. */
  readonly umask: number
  /** Bytes; larger files are left out, unless whoever looks knows better. */
  readonly maxFileSize?: number | undefined
  /** Whether git may run in repositories that nobody but their place connects with this one. */
  readonly savesNested?: boolean
  /** Secret values of the session; where present, untracked files that look like secrets are left out. */
  readonly secrets?: readonly string[] | undefined
}

const DEFAULT_UMASK = 0o022

/** Whose objects and refs lie in all repositories that keep something: `refs/oneshot/NAME/ID`. */
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

export function checkpointRef(name: string, sessionId: string): string {
  const ref = `${CHECKPOINT_REFS}/${name}/${sessionId}`
  if (parseRef(ref) !== null) return ref
  throw new NotSaved(`${JSON.stringify(`${name}/${sessionId}`)} is no name of a session`)
}

/** The session's folder or, when somebody has removed that, the top of the working tree that it lay in. */
function existingFolder(cwd: string, folder: string): string {
  if (fs.existsSync(cwd)) return cwd
  const top = readOrDefault(path.join(folder, 'top'), cwd)
  return fs.existsSync(top) ? top : cwd
}

/** Notes down where the working tree is, for the day on which the session's folder is not there. */
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
 * The repository that lies at this path of another one's working tree; null when there is none. Its ref has a name of its own,
 * because a worktree that lies in another one shares the refs with it.
 */
export async function openNested(outer: RepositoryContext, relative: RawPath): Promise<RepositoryContext | null> {
  const folder = joinBelow(outer.repository.top, relative).toString()
  if (!isTreePath(relative)) return null
  // A name that is no text cannot be given to a program as its folder.
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

/** Whose ref it is, by its name; null for one that is called otherwise than ours. */
export function parseRef(ref: string): { name: string; sessionId: string; suffix: string } | null {
  const [, name, sessionId, suffix = ''] =
    /^refs\/oneshot\/([a-z0-9][a-z0-9-]{0,99})\/([a-z0-9]{1,20})(\+[a-z0-9-]{1,60})?$/.exec(ref) ?? []
  return name === undefined || sessionId === undefined ? null : { name, sessionId, suffix }
}

interface SearchedFile {
  readonly stamp: string
  readonly foundValues: ReadonlySet<number>
}

/** What need not be asked of git again while it is seen to hold. */
export class RepositoryCache {
  /** The newest checkpoints, by the files of their refs. */
  readonly tips = new Map<string, CheckpointCommit>()
  /** Trees that were seen to be small enough to be checked out. */
  readonly checkedTrees = new Set<string>()
  /** The messages that are kept whole, by the refs of their sessions. */
  readonly goals = new Map<string, string>()
  /** By file: what it looked like when it was searched, and which of the secret values it held. */
  readonly searchedFiles = new Map<string, SearchedFile>()
  readonly #repositories = new Map<string, { mark: string; repository: Repository }>()
  readonly #isPinned: boolean

  /** `isOfOneJob`: no folder may come to belong to another repository while it lasts. */
  constructor({ isOfOneJob = false }: { isOfOneJob?: boolean } = {}) {
    this.#isPinned = isOfOneJob
  }

  /** The repository of the folder that git runs in. */
  async repository(git: Git): Promise<Repository> {
    const here = findTop(git.cwd)
    const known = this.#repositories.get(git.cwd)
    if (known !== undefined && here?.top === known.repository.top && here.mark === known.mark) return known.repository
    const repository = await findRepository(git)
    if (this.#isPinned && known !== undefined && known.repository.commonDir !== repository.commonDir)
      throw new NotSaved(`${git.cwd} belongs to another repository than it did: ${repository.commonDir}`)
    if (here?.top === repository.top) this.#repositories.set(git.cwd, { mark: here.mark, repository })
    return repository
  }
}

/** git at the top of a working tree. It does not look further up, should the repository be gone, and works in no other one. */
export function gitAtTop(git: Git, repository: Repository): Git {
  const { top } = repository
  return git.withCwd(top, { GIT_CEILING_DIRECTORIES: path.dirname(top) }).restrictedTo(repository)
}

/** The commit that is checked out; null where there is none yet. */
export async function readHead({ git }: RepositoryContext): Promise<string | null> {
  const result = await git.tryRun(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])
  return result.code === 0 ? result.stdout.toString().trim() : null
}
