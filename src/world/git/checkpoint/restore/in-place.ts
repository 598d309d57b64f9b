import type { CheckpointRequest } from '../../../../ports/checkpoints.ts'
import { formatBytes } from '../../../../lib/bytes.ts'
import { joinBelow, displayPath } from '../../../../lib/text/raw-path.ts'
import { Trouble } from '../../../../lib/errors.ts'
import { lstat } from '../../../../os/files/lstat-if-exists.ts'
import type { CheckpointCommit } from '../read-commits.ts'
import type { NestedRepository } from '../commit-message.ts'
import { gitForCheckout } from '../../lazy-fetch-record.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import { readNestedState } from '../history.ts'
import type { PreviousState } from '../save/carry-over.ts'
import { stageChanges } from '../save/stage-changes.ts'
import { limitList } from '../save/save.ts'
import { discardIndex, PrivateIndex } from '../save/private-index.ts'
import { writeIndexTree } from '../save/stage-changes.ts'
import { saveHeadOnly } from '../save/nested-repositories.ts'
import type { SaveOptions } from '../save/save-types.ts'
import { assertTreeFits } from '../assert-restore-fits-disk.ts'
import { describeUnrestored } from './to-branch.ts'
import { findBlockingFiles } from './blocking-files.ts'

/** Moves one working tree from one tree to another. */
interface RestoreStep {
  readonly context: RepositoryContext
  readonly from: PreviousState
  readonly to: string
}

/** A step that passed all checks. */
interface PreparedStep {
  readonly step: RestoreStep
  readonly index: PrivateIndex
  /** Files that no checkpoint contains; the restore leaves them alone. */
  readonly leftOut: readonly string[]
}

/**
 * Replaces the content of the working tree by the target. `over` has saved the present content. Checks all repositories
 * before it changes one of them. Returns sentences about everything that it could not restore.
 */
export async function restoreInPlace(
  context: RepositoryContext,
  target: CheckpointCommit,
  over: CheckpointCommit,
  largest: number,
): Promise<string[]> {
  const doing = `restoring checkpoint ${target.trailers.number}`
  const { steps, unable } = await planSteps(context, target, over)
  for (const step of steps) await assertTreeFits(step.context, step.to)
  const ready: PreparedStep[] = []
  try {
    for (const step of steps) ready.push(await prepareStep(step, doing, largest))
    for (const { step, index } of ready) await applyStep(step, doing, index)
  } finally {
    for (const { index } of ready) index.discard()
    for (const { context } of steps) discardIndex(context)
  }
  const untouched = ready.flatMap(({ leftOut }) => leftOut.map(sentence => `${sentence}, and stays as it is`))
  return [...unable, ...limitList(untouched)]
}

async function planSteps(
  context: RepositoryContext,
  target: CheckpointCommit,
  over: CheckpointCommit,
): Promise<{ steps: RestoreStep[]; unable: string[] }> {
  const steps: RestoreStep[] = [{ context, from: { tree: over.tree, head: over.trailers.head }, to: target.tree }]
  const unable: string[] = []
  for (const nested of target.trailers.nested) {
    const now = over.trailers.nested.find(({ path }) => path === nested.path)
    if (now?.state === nested.state) continue
    const [from, to] = [
      now === undefined ? null : await readNestedState(context, now),
      await readNestedState(context, nested),
    ]
    if (from === null || to === null) unable.push(describeUnrestored(nested))
    else if (from.tree !== to.tree) steps.push({ context: to.context, from, to: to.tree })
  }
  const since = over.trailers.nested.filter(({ path }) => !target.trailers.nested.some(nested => nested.path === path))
  return { steps, unable: [...unable, ...since.map(describeKept)] }
}

/** We never remove a whole repository: it may be the only copy of somebody's work. */
function describeKept({ path }: NestedRepository): string {
  return `the repository ${displayPath(path)} did not exist then, and stays`
}

/** Verifies that the working tree equals the saved one, and that the step loses no other file. */
async function prepareStep(step: RestoreStep, doing: string, largest: number): Promise<PreparedStep> {
  const { context, from, to } = step
  const index = await PrivateIndex.open(context)
  try {
    const request: CheckpointRequest = {
      trigger: 'restore',
      attempt: 0,
      at: 0,
      record: '',
      isRecordNews: false,
      isVisible: false,
    }
    const options: SaveOptions = { request, maxFileSize: largest, number: 0 }
    const staged = await stageChanges(context, index, { wish: options, before: from, save: saveHeadOnly })
    if ((await writeIndexTree(context, index, staged)) !== from.tree)
      throw new Trouble(doing, 'files were changed meanwhile')
    const [first, ...more] = await findBlockingFiles(context, { from: from.tree, to }, path =>
      staged.leftOut.some(sentence => sentence.startsWith(`${displayPath(path)} `)),
    )
    if (first === undefined) return { step, index, leftOut: staged.leftOut }
    const others = more.length === 0 ? '' : ` and ${more.length} more`
    const why = whyUnsaved(joinBelow(context.repository.top, first), largest)
    throw new Trouble(doing, `${displayPath(first)}${others} would be lost, which ${why} and not saved`, {
      mayHelpToRetry: false,
    })
  } catch (cause) {
    index.discard()
    throw cause
  }
}

function whyUnsaved(file: Buffer, largest: number): string {
  const stat = lstat(file)
  if (stat?.isDirectory()) return 'is a repository'
  const size = stat?.size ?? 0
  return size > largest ? `is ${formatBytes(size)} large` : 'is ignored by git'
}

/** git checks all files that it would change before it changes one. */
async function applyStep({ context, from, to }: RestoreStep, doing: string, index: PrivateIndex): Promise<void> {
  try {
    const git = await gitForCheckout(context)
    await git.run(['read-tree', '-m', '-u', from.tree, to], { index: index.file, umask: context.umask })
  } catch (cause) {
    throw new Trouble(doing, cause)
  }
}
