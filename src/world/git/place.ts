import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { below, type RawPath, rawPath, shown } from '../../lib/raw-path.ts'
import { slug } from '../../lib/slug.ts'
import { type Keeping, Unkept } from '../../ports/checkpoints.ts'
import { replaceFile } from '../os/files.ts'
import type { Git } from './git.ts'
import { lstat } from './lstat.ts'
import { atTop, type Memory } from './memory.ts'
import type { Repository } from './repository.ts'
import { assertSameRepository, isNestedOwn } from './same-repository.ts'
import { isTreePath } from './tree-path.ts'

/** One repository of which checkpoints are kept: that of a session's folder, or one that lies in its working tree. */
export interface Place {
  readonly sessionId: string
  /** Runs at the top of its working tree. */
  readonly git: Git
  readonly repository: Repository
  readonly ref: string
  /** Of its private index and what belongs to that. */
  readonly folder: string
  /** From the outermost working tree; empty for that one itself. */
  readonly path: RawPath
  readonly memory: Memory
  /** Of what is written into its working tree. */
  readonly umask: number
  /** Bytes; larger files are left out, unless whoever looks knows better. */
  readonly largest?: number | undefined
  /** Whether git may run in repositories that nobody but their place connects with this one. */
  readonly nested?: boolean
  /** Secret values of the session; where present, untracked files that look like secrets are left out. */
  readonly withheld?: readonly string[] | undefined
}

const USUAL_UMASK = 0o022

/** Whose objects and refs lie in all repositories that keep something: `refs/oneshot/NAME/ID`. */
export const REFS = 'refs/oneshot'

export async function outerPlace(keeping: Keeping, git: Git, memory: Memory, folder: string): Promise<Place> {
  const { sessionId, name, umask = USUAL_UMASK, nested = false } = keeping
  const repository = await memory.repository(git.at(whatIsLeft(keeping.cwd, folder)))
  assertSameRepository({ cwd: keeping.cwd, repository, folder })
  const ref = refOf(name, sessionId)
  return {
    sessionId,
    git: atTop(git.masked(umask), repository),
    repository,
    ref,
    folder,
    path: '',
    memory,
    umask,
    nested,
  }
}

export function refOf(name: string, sessionId: string): string {
  const ref = `${REFS}/${name}/${sessionId}`
  if (ownerOf(ref) !== null) return ref
  throw new Unkept(`${JSON.stringify(`${name}/${sessionId}`)} is no name of a session`)
}

/** The session's folder or, when somebody has removed that, the top of the working tree that it lay in. */
function whatIsLeft(cwd: string, folder: string): string {
  if (fs.existsSync(cwd)) return cwd
  const top = readOr(path.join(folder, 'top'), cwd)
  return fs.existsSync(top) ? top : cwd
}

/** Notes down where the working tree is, for the day on which the session's folder is not there. */
export function rememberTop({ repository, folder }: Place): void {
  const file = path.join(folder, 'top')
  if (readOr(file, '') === repository.top) return
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  replaceFile(file, repository.top)
}

function readOr(file: string, otherwise: string): string {
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
export async function nestedPlace(outer: Place, relative: RawPath): Promise<Place | null> {
  const folder = below(outer.repository.top, relative).toString()
  if (!isTreePath(relative)) return null
  // A name that is no text cannot be given to a program as its folder.
  if (rawPath(Buffer.from(folder)) !== rawPath(below(outer.repository.top, relative))) return null
  if (lstat(path.join(folder, '.git')) === undefined) return null
  const looking = outer.git.at(folder, { GIT_CEILING_DIRECTORIES: path.dirname(folder) })
  const repository = await outer.memory.repository(looking)
  if (repository.top !== folder) return null
  if (!isNestedOwn(repository, outer.repository))
    throw new Unkept(`its .git leads to another repository, ${repository.commonDir}`)
  const git = atTop(looking, repository)
  const whole = outer.path === '' ? relative : `${outer.path}/${relative}`
  const inside = path.join(outer.path === '' ? outer.folder : path.dirname(outer.folder), suffixOf(whole))
  return { ...outer, git, repository, ref: nestedRef(outer, whole), folder: inside, path: whole }
}

export function nestedRef(outer: Place, whole: RawPath): string {
  return `${outer.ref.split('+')[0]}${suffixOf(whole)}`
}

export function suffixOf(whole: RawPath): string {
  const hash = crypto.createHash('sha256').update(whole, 'latin1').digest('hex').slice(0, 8)
  return `+${slug(shown(whole), 'nested')}-${hash}`
}

/** Whose ref it is, by its name; null for one that is called otherwise than ours. */
export function ownerOf(ref: string): { name: string; sessionId: string; suffix: string } | null {
  const [, name, sessionId, suffix = ''] =
    /^refs\/oneshot\/([a-z0-9][a-z0-9-]{0,99})\/([a-z0-9]{1,20})(\+[a-z0-9-]{1,60})?$/.exec(ref) ?? []
  return name === undefined || sessionId === undefined ? null : { name, sessionId, suffix }
}
