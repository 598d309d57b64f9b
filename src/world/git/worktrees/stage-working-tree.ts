import type { FileChange } from '../../../core/loop/work-evidence.ts'
import type { CheckpointRequest } from '../../../ports/checkpoints.ts'
import { GitError } from '../git-error.ts'
import type { RepositoryContext } from '../repository-context.ts'
import { diffTrees } from '../checkpoint/save/tree-diff.ts'
import { type StagedChanges, previousTree, stageChanges, writeIndexTree } from '../checkpoint/save/stage-changes.ts'
import { syncObjects } from '../fsync-objects.ts'
import { saveHeadOnly } from '../checkpoint/save/nested-repositories.ts'
import type { SaveOptions } from '../checkpoint/save/save-types.ts'
import { PrivateIndex, discardIndex } from '../checkpoint/save/private-index.ts'
import { withFolderLock } from './repository-lock.ts'
import path from 'node:path'
import { type RawPath, rawPath } from '../../../lib/text/raw-path.ts'

/** A snapshot of a working tree without ignored files. */
export interface StagedWorkingTree extends StagedChanges {
  readonly tree: string
  /** The changes that the update made to the private index; null if unknown. */
  readonly changes: readonly FileChange[] | null
}

/** Bytes; a snapshot leaves out larger files, as checkpoints do. */
const MAX_FILE_SIZE = 50 * 1024 * 1024

const REQUEST: CheckpointRequest = {
  trigger: 'asked',
  attempt: 0,
  at: 0,
  record: '',
  isRecordNews: false,
  isVisible: false,
}

/** Stages the working tree in a private index and writes its tree. Records only the HEAD of nested repositories. */
export function stageWorkingTree(context: RepositoryContext): Promise<StagedWorkingTree> {
  return withFolderLock(context.folder, context.git.signal, async () => {
    try {
      return await stageOnce(context)
    } catch (cause) {
      if (!(cause instanceof GitError)) throw cause
      // The private index refers to missing objects: start with a new one.
      discardIndex(context)
      return stageOnce(context)
    }
  })
}

async function stageOnce(context: RepositoryContext): Promise<StagedWorkingTree> {
  const index = await PrivateIndex.open(context)
  try {
    const last = index.record === null ? null : { tree: index.record.tree, head: index.record.head ?? null }
    const options: SaveOptions = { request: REQUEST, maxFileSize: context.maxFileSize ?? MAX_FILE_SIZE, number: 0 }
    const staged = await stageChanges(context, index, { wish: options, before: last, save: saveHeadOnly })
    const { status, gitlinks } = staged
    const tree = await writeIndexTree(context, index, staged)
    const before = previousTree(context, last, status)
    // The last snapshot is durable already.
    const isSame = tree === last?.tree
    const diff = isSame ? null : (staged.writtenTree?.diff ?? (await diffTrees(context, before, tree)))
    context.cache.lastTreeDiff = diff?.files ? { trees: `${before} ${tree}`, files: diff.files } : null
    if (diff !== null) await syncObjects(context, diff.objects, staged.isSynced)
    index.persist({ tree, gitlinks, head: status.head })
    // The status compares with the index of the last snapshot; a new index may differ from HEAD by itself.
    const changes = isSame ? [] : index.record === null ? null : (diff?.files ?? null)
    return { ...staged, tree, changes }
  } catch (cause) {
    index.discard()
    throw cause
  }
}

/** The views of sessions and the worktrees: they are never work. */
const AGENT_FOLDER = '.agent'

/** Returns true if a path, from the top of the working tree, does not count. */
export type IsExcluded = (path: RawPath) => boolean

/** `excludedPaths`: files or folders, relative to `folder`. */
export function excludePaths(top: string, folder: string, excludedPaths: readonly string[]): IsExcluded {
  const listed = excludedPaths.map(name => rawPath(Buffer.from(path.relative(top, path.resolve(folder, name)))))
  return file => isAgentFile(file) || listed.some(one => file === one || file.startsWith(`${one}/`))
}

export function isAgentFile(file: RawPath): boolean {
  return file.split('/').includes(AGENT_FOLDER)
}
