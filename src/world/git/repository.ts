import fs from 'node:fs'
import path from 'node:path'
import { NotSaved } from '../../ports/checkpoints.ts'
import type { Git } from './git.ts'
import { GitError } from './git-error.ts'
import { readRegularFile } from '../../os/files/file-io.ts'
import { lstat } from '../../os/files/lstat-if-exists.ts'

/** A repository with a working tree. All paths are absolute and without symbolic links. */
export interface Repository {
  /** The working tree. */
  readonly top: string
  /** The git folder of this worktree, with HEAD and index. */
  readonly gitDir: string
  /** The git folder of all worktrees, with objects and refs. */
  readonly commonDir: string
  /** True for a partial clone, which lacks objects that its remote has. */
  readonly isPartial: boolean
  /** The null commit id and the empty tree, in the repository's hash length. */
  readonly emptyIds: { readonly commit: string; readonly tree: string }
}

/** The empty tree, which git knows without storing it. */
const EMPTY_TREE = {
  sha1: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  sha256: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
} as const

const PATH_OPTIONS = ['--show-cdup', '--absolute-git-dir', '--git-common-dir'] as const

/** A path may contain the line end that separates two answers. */
async function readPathsSeparately(git: Git): Promise<string[]> {
  const answers: string[] = []
  for (const option of PATH_OPTIONS) answers.push(await git.runForLine(['rev-parse', option]))
  return answers
}

/** There is no repository around this folder. */
export class NoRepository extends NotSaved {}

function isNotRepository({ stderr }: { stderr: string }): boolean {
  return stderr.includes('not a git repository')
}

/** Returns the repository of this folder. Throws `NotSaved` if there is no usable one. */
export async function findRepository(git: Git): Promise<Repository> {
  const cwd = resolveFolder(git.cwd)
  const facts = await git.tryRun([
    'rev-parse',
    '--is-bare-repository',
    '--is-inside-work-tree',
    '--show-object-format',
    ...PATH_OPTIONS,
  ])
  // The folder lies inside a git folder, and our git uses only repositories that a `.git` leads to.
  if (facts.stderr.includes('cannot use bare repository')) throw new NotSaved(`${cwd} is not in a working tree`)
  if (facts.code !== 0)
    throw isNotRepository(facts)
      ? new NoRepository(`${cwd} is not in a git repository`, 'git init makes a folder a repository')
      : new NotSaved(reasonOf(facts), parseRemedy(facts))
  const [isBare, isInside, format, ...said] = facts.stdout.toString().replace(/\n$/, '').split('\n')
  if (isInside !== 'true')
    throw isBare === 'true'
      ? new NotSaved(`${cwd} is a bare repository`, 'if it has files of yours: git config core.bare false')
      : new NotSaved(`${cwd} is not in a working tree`)
  const [up = '', own = '', shared = ''] = said.length === PATH_OPTIONS.length ? said : await readPathsSeparately(git)
  const top = path.resolve(cwd, up)
  // The user's core.worktree points elsewhere. At the top, where we run git, it would not find the repository.
  if (lstat(path.join(top, '.git')) === undefined) throw new NotSaved('its working tree is not where its repository is')
  const gitDir = fs.realpathSync(own)
  const commonDir = fs.realpathSync(path.resolve(cwd, shared))
  const isPartial = mayBePartial(commonDir) && (await git.tryRun(READ_PROMISORS)).code === 0
  const hash = format === 'sha256' ? 'sha256' : 'sha1'
  return {
    top,
    gitDir,
    commonDir,
    isPartial,
    emptyIds: { tree: EMPTY_TREE[hash], commit: '0'.repeat(EMPTY_TREE[hash].length) },
  }
}

const READ_PROMISORS = ['config', '--get-regexp', '^(extensions\\.partialclone|remote\\..*\\.promisor)$'] as const

/** Bytes; an earlier check refuses a longer configuration. */
const MAX_CONFIG_SIZE = 1_048_576

/** Returns false if the configuration certainly names no remote that has more objects. */
function mayBePartial(commonDir: string): boolean {
  try {
    const { content } = readRegularFile(path.join(commonDir, 'config'), MAX_CONFIG_SIZE)
    return /promisor|partialclone|include/i.test(content.toString('latin1'))
  } catch {
    return true // git reads it.
  }
}

function resolveFolder(cwd: string): string {
  try {
    return fs.realpathSync.native(cwd) // Node's own looks at each part of the path.
  } catch {
    throw new NotSaved(
      `the folder ${cwd} does not exist`,
      'if its project was moved: cd to where it is now, and try again',
    )
  }
}

function reasonOf(facts: { code: number | null; stderr: string }): string {
  return new GitError('rev-parse', facts).message
}

/** Returns git's own advice for a folder that belongs to another user. */
function parseRemedy({ stderr }: { stderr: string }): string | undefined {
  return /^[ \t]*(git config --global --add safe\.directory .+)$/m.exec(stderr)?.[1]
}

/**
 * Returns the nearest parent folder that git would take for the top of a working tree, with a mark that identifies its
 * `.git`.
 */
export function findTop(cwd: string): { top: string; mark: string } | null {
  let folder = resolveFolder(cwd)
  for (;;) {
    const stat = fs.lstatSync(path.join(folder, '.git'), { throwIfNoEntry: false })
    if (stat !== undefined) return { top: folder, mark: `${stat.dev}:${stat.ino}` }
    if (folder === path.dirname(folder)) return null
    folder = path.dirname(folder)
  }
}

/** Files of a git folder that show an operation in progress. */
const IN_PROGRESS_FILES: Readonly<Record<string, string>> = {
  MERGE_HEAD: 'a merge',
  'rebase-merge': 'a rebase',
  'rebase-apply/applying': 'a git am',
  'rebase-apply': 'a rebase',
  CHERRY_PICK_HEAD: 'a cherry-pick',
  REVERT_HEAD: 'a revert',
  BISECT_LOG: 'a bisection',
}

/** Returns the operation in progress; null if there is none. */
export function operationInProgress(gitDir: string): string | null {
  const found = Object.entries(IN_PROGRESS_FILES).find(([file]) => fs.existsSync(path.join(gitDir, file)))
  return found?.[1] ?? null
}

/** The author of commits that must not or cannot name the user. */
export const ONESHOT_IDENTITY = {
  GIT_AUTHOR_NAME: 'oneshot',
  GIT_AUTHOR_EMAIL: 'oneshot@localhost',
  GIT_COMMITTER_NAME: 'oneshot',
  GIT_COMMITTER_EMAIL: 'oneshot@localhost',
} as const

/** For commits that the user will see: git uses the user's own identity, if it is configured. */
export async function commitIdentity(git: Git): Promise<Readonly<Record<string, string>>> {
  const { stdout } = await git.tryRun(['config', '--get-regexp', '^user\\.(name|email)$'])
  const said = stdout.toString()
  return /^user\.name ./m.test(said) && /^user\.email ./m.test(said) ? {} : ONESHOT_IDENTITY
}
