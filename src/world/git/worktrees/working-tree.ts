import type { CheckpointRequest } from '../../../ports/checkpoints.ts'
import { GitError } from '../git-error.ts'
import type { RepositoryContext } from '../repository-context.ts'
import { diffTrees } from '../checkpoint/save/tree-diff.ts'
import { type StagedChanges, previousTree, stageChanges, writeIndexTree } from '../checkpoint/save/stage-changes.ts'
import { syncObjects } from '../objects.ts'
import { saveHeadOnly } from '../checkpoint/save/nested.ts'
import type { SaveOptions } from '../checkpoint/save/types.ts'
import { PrivateIndex, discardIndex } from '../checkpoint/save/private-index.ts'
import { withFolderLock } from './lock.ts'
import path from 'node:path'
import { type RawPath, rawPath } from '../../../lib/text/raw-path.ts'

/** What lies in a working tree, ignored files left aside. */
export interface StagedWorkingTree extends StagedChanges {
  readonly tree: string
}

/** Bytes; larger files are left out, as of checkpoints. */
const MAX_FILE_SIZE = 50 * 1024 * 1024

const REQUEST: CheckpointRequest = {
  trigger: 'asked',
  attempt: 0,
  at: 0,
  record: '',
  isRecordNews: false,
  isVisible: false,
}

/** Takes it into a private index and makes a tree of that. Other repositories in it are noted down by their HEAD. */
export function stageWorkingTree(context: RepositoryContext): Promise<StagedWorkingTree> {
  return withFolderLock(context.folder, context.git.signal, async () => {
    try {
      return await stageOnce(context)
    } catch (cause) {
      if (!(cause instanceof GitError)) throw cause
      // The private index tells of objects that are gone: it is made anew.
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
    // What was seen last time was made durable then.
    const isSame = tree === last?.tree
    const diff = isSame ? null : (staged.writtenTree?.diff ?? (await diffTrees(context, before, tree)))
    if (diff !== null) await syncObjects(context, diff.objects, staged.isSynced)
    index.persist({ tree, gitlinks, head: status.head })
    return { ...staged, tree }
  } catch (cause) {
    index.discard()
    throw cause
  }
}

/** The views of sessions, and worktrees: no work, wherever they lie. */
const AGENT_FOLDER = '.agent'

/** Whether a path, from the top of the working tree, does not count. */
export type IsExcluded = (path: RawPath) => boolean

/** `apart`: files or folders, from this folder of the working tree. */
export function excludePaths(top: string, folder: string, excludedPaths: readonly string[]): IsExcluded {
  const listed = excludedPaths.map(name => rawPath(Buffer.from(path.relative(top, path.resolve(folder, name)))))
  return file => isAgentFile(file) || listed.some(one => file === one || file.startsWith(`${one}/`))
}

export function isAgentFile(file: RawPath): boolean {
  return file.split('/').includes(AGENT_FOLDER)
}
