import fs from 'node:fs'
import { type DiffStat, EMPTY_DIFF } from '../../../../core/checkpoint/checkpoint.ts'
import { type RawPath, displayPath, joinBelow, rawPathBytes, splitRawPaths } from '../../../../lib/text/raw-path.ts'
import { errorMessage } from '../../../../lib/errors.ts'
import { readGitFolder, readHeadFromFiles } from '../../guard/find-and-check-git-folder.ts'
import { lstat } from '../../../../os/files/lstat-if-exists.ts'
import type { NestedRepository } from '../commit-message.ts'
import { type RepositoryContext, openNested, readHead } from '../../repository-context.ts'
import type { SaveOutcome } from './save-types.ts'

/** The saved part of a repository inside another working tree. */
export interface SavedNested {
  /** The path from the outer working tree. */
  readonly path: RawPath
  readonly head: string | null
  /** Its own state and the states of repositories inside it; empty if we can save nothing. */
  readonly states: readonly NestedRepository[]
  readonly change: DiffStat
  readonly leftOut: readonly string[]
}

/** Saves each of these folders that is a repository, as a part of the same checkpoint. */
export async function saveNested(
  outer: RepositoryContext,
  { paths, submodules }: { paths: readonly RawPath[]; submodules: readonly RawPath[] },
  save: (context: RepositoryContext) => Promise<SaveOutcome>,
): Promise<SavedNested[]> {
  const found: SavedNested[] = []
  for (const path of paths) {
    try {
      if (outer.savesNested !== true && !submodules.includes(path) && !isWorktreeOf(outer, path)) {
        found.push(...recordHeadOnly(outer, path))
        continue
      }
      const context = await openNested(outer, path)
      if (context !== null) found.push(toSavedNested(context, path, await save(context)))
    } catch (cause) {
      if (outer.git.signal.aborted) throw cause
      found.push(unsavedNested(path, cause))
    }
  }
  return found
}

/**
 * * A stranger may have crafted the repository to harm the user who runs git in it: we read its HEAD from its files,
 * and do not save its content.
 */
function recordHeadOnly(outer: RepositoryContext, path: RawPath): SavedNested[] {
  const folder = joinBelow(outer.repository.top, path).toString()
  if (lstat(`${folder}/.git`) === undefined) return []
  const head = readHeadFromFiles(folder)
  const whole = outer.path === '' ? path : `${outer.path}/${path}`
  const states = head === null ? [] : [{ path: whole, state: head, isHeadOnly: true } as const]
  const sentence = `${displayPath(path)} is another repository, and oneshot records only its HEAD (nested = true saves it)`
  return [{ path, head, states, change: EMPTY_DIFF, leftOut: [sentence] }]
}

/** Returns true if the repository at this path is another worktree of the same repository. */
export function isWorktreeOf({ repository }: RepositoryContext, path: RawPath): boolean {
  const folder = readGitFolder(joinBelow(repository.top, path).toString())
  return folder !== null && fs.existsSync(folder.shared) && fs.realpathSync(folder.shared) === repository.commonDir
}

/** Returns true if HEAD has a gitlink at this path. */
export async function isSubmodule({ git }: RepositoryContext, path: RawPath): Promise<boolean> {
  const { stdout } = await git.tryRun(['ls-tree', '-z', 'HEAD', '--', rawPathBytes(path).toString()])
  return splitRawPaths(stdout).some(line => line.startsWith('160000 ') && line.endsWith(`\t${path}`))
}

function toSavedNested(
  context: RepositoryContext,
  path: RawPath,
  { created, previous, head, nested, leftOut }: SaveOutcome,
): SavedNested {
  const state = (created ?? previous)?.trailers.number ?? head
  return {
    path,
    head,
    states: state === null ? nested : [{ path: context.path, state }, ...nested],
    change: created?.trailers.change ?? EMPTY_DIFF,
    leftOut: leftOut.map(sentence => `in ${displayPath(path)}: ${sentence}`),
  }
}

function unsavedNested(path: RawPath, cause: unknown): SavedNested {
  const sentence = `${displayPath(path)} is a repository that cannot be saved: ${errorMessage(cause)}`
  return { path, head: null, states: [], change: EMPTY_DIFF, leftOut: [sentence] }
}

/** Records the HEADs of nested repositories without saving them. */
export async function saveHeadOnly(context: RepositoryContext): Promise<SaveOutcome> {
  return { created: null, previous: null, head: await readHead(context), leftOut: [], nested: [] }
}
