import { type DiffStat, addDiffStats } from '../../../core/checkpoint/checkpoint.ts'
import { displayPath } from '../../../lib/text/raw-path.ts'
import { NO_INDEX } from '../git.ts'
import type { NestedRepository } from './commit-message.ts'
import type { RepositoryContext } from '../repository-context.ts'
import { readCheckpoint, readNestedState } from './history.ts'
import { diffTrees } from './save/tree-diff.ts'
import { assertTreeFits } from './assert-restore-fits-disk.ts'
import fs from 'node:fs'
import type { CheckpointRequest } from '../../../ports/checkpoints.ts'
import { removeStateFolder } from '../remove-state-folder.ts'
import { stageChanges, writeIndexTree } from './save/stage-changes.ts'
import { saveHeadOnly } from './save/nested-repositories.ts'
import { PrivateIndex } from './save/private-index.ts'

/** The repository's configuration could otherwise hide changes, or name a program or a file to read. */
const FIXED_OPTIONS = [
  '--no-ext-diff',
  '--no-textconv',
  '--submodule=short',
  '--no-relative',
  '--color=never',
  '-O/dev/null',
  '--diff-algorithm=default',
  '--find-renames',
  '--indent-heuristic',
] as const

/** Two trees of one repository. */
interface TreePair {
  readonly context: RepositoryContext
  readonly from: string
  readonly to: string
}

/** Returns git's diff; the diffs of nested repositories follow the diff of the outer repository. */
export async function diff(
  context: RepositoryContext,
  range: { from: string; to: string },
  options: { stat: boolean },
): Promise<string> {
  const how = options.stat ? ['--stat'] : ['--patch', '--unified=3', '--inter-hunk-context=0']
  const texts: string[] = []
  for (const { context: one, from, to } of await treePairs(context, range)) {
    const prefix = one.path === '' ? '' : `${displayPath(one.path)}/`
    const where = [`--src-prefix=a/${prefix}`, `--dst-prefix=b/${prefix}`]
    const args = ['diff', ...FIXED_OPTIONS, ...how, ...where, from, to, '--']
    const text = (await one.git.run(args, { index: NO_INDEX })).toString()
    // `--stat` does not show the prefix.
    texts.push(options.stat && prefix !== '' && text !== '' ? `in ${prefix}\n${text}` : text)
  }
  return texts.join('')
}

/** Returns the totals of a diff. */
export async function diffStat(context: RepositoryContext, range: { from: string; to: string }): Promise<DiffStat> {
  const changes: DiffStat[] = []
  for (const pair of await treePairs(context, range)) {
    changes.push((await diffTrees(pair.context, pair.from, pair.to)).change)
  }
  return changes.reduce(addDiffStats)
}

async function treePairs(context: RepositoryContext, { from, to }: { from: string; to: string }): Promise<TreePair[]> {
  const [before, after] = [await readCheckpoint(context, from), await readCheckpoint(context, to)]
  const pairs: TreePair[] = [{ context, from: before.tree, to: after.tree }]
  const paths = new Set([...before.trailers.nested, ...after.trailers.nested].map(({ path }) => path))
  for (const path of paths) {
    const pair = await nestedPair(
      context,
      findNested(before.trailers.nested, path),
      findNested(after.trailers.nested, path),
    )
    if (pair !== null) pairs.push(pair)
  }
  for (const pair of pairs) {
    await assertTreeFits(pair.context, pair.from)
    await assertTreeFits(pair.context, pair.to)
  }
  return pairs
}

async function nestedPair(
  context: RepositoryContext,
  before: NestedRepository | undefined,
  after: NestedRepository | undefined,
): Promise<TreePair | null> {
  if (before?.state === after?.state) return null
  const one = before === undefined ? null : await readNestedState(context, before)
  const other = after === undefined ? null : await readNestedState(context, after)
  const nested = (other ?? one)?.context
  if (nested === undefined) return null
  const { tree: nothing } = nested.repository.emptyIds
  return { context: nested, from: one?.tree ?? nothing, to: other?.tree ?? nothing }
}

function findNested(all: readonly NestedRepository[], path: string): NestedRepository | undefined {
  return all.find(one => one.path === path)
}

/** Compares the working tree with a tree, or with HEAD if the tree is null. Leaves no state behind. */
export async function compareWorktree(
  context: RepositoryContext,
  tree: string | null,
  largest: number,
): Promise<{ change: DiffStat; head: string | null }> {
  if (tree !== null) await assertTreeFits(context, tree)
  const isStranger = !fs.existsSync(context.folder)
  const index = await PrivateIndex.open(context)
  try {
    const request: CheckpointRequest = {
      trigger: 'asked',
      attempt: 0,
      at: 0,
      record: '',
      isRecordNews: false,
      isVisible: false,
    }
    const staged = await stageChanges(context, index, {
      wish: { request, maxFileSize: largest, number: 0 },
      before: null,
      save: saveHeadOnly,
    })
    const { head } = staged.status
    const before = tree ?? (head === null ? context.repository.emptyIds.tree : `${head}^{tree}`)
    const { change } = await diffTrees(context, before, await writeIndexTree(context, index, staged))
    return { change, head }
  } finally {
    index.discard()
    if (isStranger) removeStateFolder(context.folder)
  }
}
