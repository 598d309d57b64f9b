import fs from 'node:fs'
import path from 'node:path'
import { formatCommandLine } from '../../../lib/text/shell-words.ts'
import {
  type RawPath,
  rawPath,
  displayPath,
  joinBelow,
  parentFolders,
  splitRawPaths,
} from '../../../lib/text/raw-path.ts'
import type { Hindrance } from '../../../ports/worktrees.ts'
import { readPart } from '../../../os/files/file-io.ts'
import { lstat } from '../../../os/files/lstat-if-exists.ts'
import type { Git } from '../git.ts'
import { readGitFolder } from '../guard/find-and-check-git-folder.ts'
import type { RepositoryContext } from '../repository-context.ts'
import { findTop } from '../repository.ts'
import { movesSince } from './evidence/reflog.ts'

/**
 * Returns settings that make git ignore the files around `.git` as its working tree. git reads them only from these two
 * files.
 */
export async function hindrancesOf(git: Git): Promise<readonly Hindrance[]> {
  const top = findTop(git.cwd)?.top
  const folder = top === undefined ? null : readGitFolder(top)
  // git ignores these settings in a linked worktree.
  if (top === undefined || folder === null || folder.own !== folder.shared) return []
  const shared = path.join(folder.shared, 'config')
  const own = path.join(folder.own, 'config.worktree')
  const contents = readContents([shared, own])
  const key = `${top}\0${shared}\0${own}`
  const known = knownHindrances.get(key)
  if (known !== undefined && contents !== null && known.contents.equals(contents)) return known.hindrances
  const hindrances = await readHindrances(git, top, { shared, own })
  if (knownHindrances.size > MAX_CACHED) knownHindrances.clear()
  // The files may have changed while git read them.
  if (contents !== null && readContents([shared, own])?.equals(contents))
    knownHindrances.set(key, { contents, hindrances })
  return hindrances
}

/** By working tree and its two files: the bytes of both files, and the settings that git found in them. */
const knownHindrances = new Map<string, { readonly contents: Buffer; readonly hindrances: readonly Hindrance[] }>()
const MAX_CACHED = 100
/** Bytes of a configuration file that are compared; git reads a longer one each time. */
const MAX_COMPARED = 65_536

/** The bytes of all files, with the length before each; null where one cannot be compared. */
function readContents(files: readonly string[]): Buffer | null {
  try {
    const parts = files.map(file => readPart(file, 0, MAX_COMPARED))
    if (parts.some(part => part.length >= MAX_COMPARED)) return null
    return Buffer.concat(parts.flatMap(part => [Buffer.from(`${part.length}\n`), part]))
  } catch {
    return null // It cannot be read: git says so.
  }
}

async function readHindrances(
  git: Git,
  top: string,
  { shared, own }: { shared: string; own: string },
): Promise<readonly Hindrance[]> {
  const isPerTree = (await valueIn(git, shared, 'extensions.worktreeConfig', '--type=bool')) === 'true'
  const files = isPerTree ? [shared, own] : [shared]
  return (await Promise.all(files.map(file => hindrancesIn(git, top, file)))).flat()
}

async function hindrancesIn(git: Git, top: string, file: string): Promise<Hindrance[]> {
  const found: Hindrance[] = []
  const config = ['git', 'config', '--file', file]
  if ((await valueIn(git, file, 'core.bare', '--type=bool')) === 'true')
    found.push({ what: 'core.bare=true', cure: formatCommandLine([...config, 'core.bare', 'false']) })
  const elsewhere = await valueIn(git, file, 'core.worktree')
  if (elsewhere !== null && path.resolve(path.dirname(file), elsewhere) !== top)
    found.push({
      what: `core.worktree=${displayPath(rawPath(Buffer.from(elsewhere)))}`,
      cure: formatCommandLine([...config, '--unset-all', 'core.worktree']),
    })
  return found
}

async function valueIn(git: Git, file: string, key: string, ...how: string[]): Promise<string | null> {
  const { code, stdout } = await git.tryRun(['config', '--file', file, ...how, '--get', key])
  return code === 0 ? stdout.toString().replace(/\n$/, '') : null
}

/** Returns files of a commit that are missing in this checkout, even if a setting makes git ignore it. */
export async function deletedFrom({ git, repository }: RepositoryContext, commit: string): Promise<readonly RawPath[]> {
  const { top, gitDir } = repository
  const command = ['diff-index', '-z', '--name-only', '--no-renames', '--diff-filter=D', '--ignore-submodules']
  const env = { GIT_DIR: gitDir, GIT_WORK_TREE: top }
  const missing = splitRawPaths(await git.run([...command, commit, '--'], { env }))
  // `git rm --cached` removes a file from the index alone.
  return missing.filter(file => !isFileWithoutLinks(top, file))
}

/** A file behind a link, or a folder in its place, is not the file of the commit. */
function isFileWithoutLinks(top: string, file: RawPath): boolean {
  const isFolder = (name: RawPath): boolean => lstat(joinBelow(top, name))?.isDirectory() === true
  return lstat(joinBelow(top, file))?.isDirectory() === false && parentFolders(file).every(isFolder)
}

/**
 * Returns true if HEAD changed without a checkout, for example by `git symbolic-ref`: the files are then still those of
 * the previous branch. `since`: the size of HEAD's reflog at that time. Returns false if HEAD has no reflog.
 */
export function wasPointed(gitDir: string, since: number, branch: string | null): boolean {
  const moves = movesSince(gitDir, since)
  if (moves === null || !fs.existsSync(path.join(gitDir, 'HEAD'))) return false
  return !moves.some(({ message }) => {
    const [, target] = /^(?:checkout: moving from \S+|Branch: renamed \S+|.*: returning) to ([^]+)$/.exec(message) ?? []
    return branch === null ? target !== undefined || /^(?:pull|rebase)\b/.test(message) : isSame(target, branch)
  })
}

function isSame(target: string | undefined, branch: string): boolean {
  return target === branch || target === `refs/heads/${branch}`
}

/** Returns time, size and inode of each file. */
export function fileStamps(top: string, paths: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    paths.map(file => {
      const stat = fs.lstatSync(joinBelow(top, file), { throwIfNoEntry: false })
      return [file, stat === undefined ? '' : `${stat.mtimeMs} ${stat.size} ${stat.ino}`]
    }),
  )
}
