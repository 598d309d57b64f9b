import { type ObjectId, objectId } from '../../../../core/checkpoint/object-id.ts'
import { addDiffStats } from '../../../../core/checkpoint/checkpoint.ts'
import { Mask } from '../../../../lib/mask/mask.ts'
import { cacheTip, readRecord, readTip } from '../history.ts'
import { GitError } from '../../git-error.ts'
import type { CheckpointCommit } from '../read-commits.ts'
import { type CheckpointTrailers, formatMessage } from '../commit-message.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import { type TreeDiff, diffTrees } from './tree-diff.ts'
import type { PreviousState } from './carry-over.ts'
import { type StagedChanges, previousTree, stageChanges, writeIndexTree } from './stage-changes.ts'
import { recordNestedLazyFetch } from '../../lazy-fetch-record.ts'
import { syncObjects } from '../../fsync-objects.ts'
import { PrivateIndex, discardIndex } from './private-index.ts'
import { hasRecordedPrevious, isUnchangedSince, readGitDirStamp, recordPrevious, rollBackIfBroken } from './gc-race.ts'
import { recoverHistory } from './recover-history.ts'
import { commitOnBranch, repairUserIndex } from './branch-commit.ts'
import type { SaveOptions, SaveOutcome } from './save-types.ts'
import fs from 'node:fs'
import path from 'node:path'
import { ONESHOT_IDENTITY } from '../../repository.ts'
import { type NewCommit, writeLooseCommit } from '../../loose-objects.ts'
import { updateRef } from '../../update-ref.ts'

/**
 * Saves one working tree, and first the nested ones. If git reports that the private index does not fit, because
 * somebody replaced objects or the whole repository, it retries with a new index. Only if that fails, too, it checks
 * the earlier checkpoints and removes lost files from them.
 */
export async function save(context: RepositoryContext, options: SaveOptions): Promise<SaveOutcome> {
  try {
    return await trySave(context, options)
  } catch (cause) {
    if (!(cause instanceof GitError)) throw cause
    discardIndex(context)
    return trySave(context, options).catch(async (again: unknown) => {
      if (!(again instanceof GitError)) throw again
      const { losses, lastNumber } = await recoverHistory(context)
      return trySave(context, { ...options, number: Math.max(options.number, lastNumber + 1), losses })
    })
  }
}

async function trySave(context: RepositoryContext, options: SaveOptions): Promise<SaveOutcome> {
  if (await rollBackIfBroken(context)) discardIndex(context)
  if (context.path === '') await repairUserIndex(context)
  else if (isFirstOfSession(context)) await recordNestedLazyFetch(context)
  const gitDirStamp = readGitDirStamp(context)
  const last = await readTip(context)
  const number = Math.max(options.number, (last?.trailers.number ?? 0) + 1)
  const index = await PrivateIndex.open(context, { isFirst: last === null })
  try {
    const staged = await stageChanges(context, index, {
      wish: { ...options, number, losses: [] },
      before: toPreviousState(last),
      save,
    })
    const made = await createCheckpoint(context, index, {
      previous: last,
      staged,
      options: { ...options, number },
      gitDirStamp,
    })
    const { head, leftOut } = made?.trailers ?? {
      head: staged.status.head,
      leftOut: toLeftOut(context, staged.leftOut),
    }
    return { created: made, previous: last, head, leftOut, nested: staged.nested }
  } catch (cause) {
    index.discard()
    throw cause
  }
}

/** The ref proves nothing: an agent could have deleted it. The folder of a nested repository lies in the session's. */
function isFirstOfSession({ folder }: RepositoryContext): boolean {
  return !hasRecordedPrevious(path.dirname(folder))
}

function toPreviousState(last: CheckpointCommit | null): PreviousState | null {
  return last === null ? null : { tree: last.tree, head: last.trailers.head }
}

interface SaveInput {
  readonly previous: CheckpointCommit | null
  readonly staged: StagedChanges
  readonly options: SaveOptions
  readonly gitDirStamp: string
}

async function createCheckpoint(
  context: RepositoryContext,
  index: PrivateIndex,
  input: SaveInput,
): Promise<CheckpointCommit | null> {
  const { previous, staged, options, gitDirStamp } = input
  const { status, gitlinks } = staged
  const tree = await writeIndexTree(context, index, staged)
  const notes = { tree, gitlinks }
  if (isUnchanged(context, tree, input) && !(await hasNewRecord(context, input))) {
    index.persist(notes)
    return null
  }
  const diff =
    staged.writtenTree?.diff ??
    (await diffTrees(context, previousTree(context, toPreviousState(previous), status), tree))
  const isVisible = options.request.isVisible && context.path === ''
  // A visible commit may only refer to durable objects.
  if (isVisible || staged.isSynced) await syncObjects(context, diff.objects, staged.isSynced)
  const visible = isVisible ? await commitOnBranch(context, tree, staged, options) : null
  const trailers = buildTrailers(context, input, {
    head: visible?.head ?? status.head,
    delta: diff,
    note: visible?.note,
  })
  const record = context.path === '' ? options.request.record : ''
  const checkpoint = await commitCheckpoint(context, {
    tree,
    trailers,
    record,
    previous,
    objects: diff.objects,
    areSynced: isVisible || staged.isSynced,
    gitDirStamp,
  })
  index.persist(notes)
  return checkpoint
}

function isUnchanged(context: RepositoryContext, tree: string, { previous, staged, options }: SaveInput): boolean {
  const { status, nested } = staged
  // An untouched nested repository needs no checkpoint: the outer one records its HEAD.
  if (previous === null) return context.path !== '' && status.differences.length === 0 && nested.every(isUntouched)
  // Every loss must be named by a checkpoint.
  if (options.losses !== undefined && options.losses.length > 0) return false
  const isSameInside = JSON.stringify(nested) === JSON.stringify(previous.trailers.nested)
  return tree === previous.tree && status.head === previous.trailers.head && isSameInside
}

/** Only the outermost repository stores the record of the session. */
async function hasNewRecord(context: RepositoryContext, { previous, options }: SaveInput): Promise<boolean> {
  const { isRecordNews: isWanted, record } = options.request
  if (!isWanted || previous === null || context.path !== '') return false
  return (await readRecord(context, previous.commit)) !== record
}

const isUntouched = ({ state }: { state: number | string }): boolean => typeof state === 'string'

function buildTrailers(
  context: RepositoryContext,
  { staged, options }: SaveInput,
  { head, delta: diff, note }: { head: string | null; delta: TreeDiff; note?: string | undefined },
): CheckpointTrailers {
  const { trigger, attempt, at } = options.request
  const { losses = [] } = options
  const leftOut = toLeftOut(context, [...losses, ...(note === undefined ? [] : [note]), ...staged.leftOut])
  const change = addDiffStats(diff.change, staged.nestedChange)
  const { nested } = staged
  const { sessionId, path } = context
  return { number: options.number, sessionId, path, at, trigger, attempt, head, change, leftOut, nested }
}

/** A file name may contain a secret, too. */
function toLeftOut({ secrets }: RepositoryContext, sentences: readonly string[]): string[] {
  const mask = new Mask(secrets)
  return limitList(sentences).map(text => mask.maskText(text))
}

/** The content of a new checkpoint commit. */
export interface CheckpointDraft {
  readonly tree: string
  readonly trailers: CheckpointTrailers
  readonly record: string
  /** The previous checkpoint. */
  readonly previous: CheckpointCommit | null
  /** The new objects. */
  readonly objects: readonly string[]
  /** True if they are durable. */
  readonly areSynced: boolean
  /** The stamp from before the first write. */
  readonly gitDirStamp: string
}

/**
 * Creates the commit and moves the ref if it still points to the previous checkpoint. The commit and all its objects
 * are durable before the ref moves.
 */
async function commitCheckpoint(context: RepositoryContext, draft: CheckpointDraft): Promise<CheckpointCommit> {
  const { tree, trailers, previous, objects } = draft
  const before = previous?.commit ?? null
  const commit = await createCommit(context, draft)
  await syncObjects(context, draft.areSynced ? [commit] : [commit, ...objects])
  await updateRef(context, commit, before)
  const unverified = { commit, before, objects: [commit, ...objects] }
  if (!isUnchangedSince(context, draft.gitDirStamp) && (await rollBackIfBroken(context, unverified))) {
    throw new GitError('gc', { code: 1, stderr: 'git gc removed the saved files' })
  }
  const link: CheckpointCommit = { commit, tree, trailers }
  cacheTip(context, link)
  recordPrevious(context, before, trailers.number)
  return link
}

/** The parents are the previous checkpoint and HEAD, so that the ref also keeps the commits of that time. */
async function createCommit(context: RepositoryContext, draft: CheckpointDraft): Promise<ObjectId> {
  const { tree, trailers, record, previous } = draft
  const parents = [previous?.commit, trailers.head].flatMap(parent => parent ?? [])
  const message = formatMessage(trailers, record)
  const seconds = Math.floor(trailers.at / 1000)
  const earlier = previous === null ? [] : [previous.commit]
  return objectId(
    writeLooseCommit(context, { tree, parents, seconds, message }, earlier) ??
      (await createCommitWithGit(context, { tree, parents, seconds, message })),
  )
}

async function createCommitWithGit(
  { git, folder }: RepositoryContext,
  { tree, parents, seconds, message }: NewCommit,
): Promise<string> {
  // We pass the message in a file: if oneshot were killed during a write to stdin, git would commit the part that
  // arrived.
  const file = path.join(folder, 'message')
  fs.writeFileSync(file, message, { mode: 0o600 })
  const date = `@${seconds} +0000`
  const env = { ...ONESHOT_IDENTITY, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date }
  return git.runForLine(['commit-tree', '-F', file, tree, ...parents.flatMap(parent => ['-p', parent])], { env })
}

const MAX_LISTED = 5

/** Returns a few sentences and the number of the others. */
export function limitList(sentences: readonly string[]): string[] {
  if (sentences.length <= MAX_LISTED) return [...sentences]
  return [...sentences.slice(0, MAX_LISTED - 1), `and ${sentences.length - MAX_LISTED + 1} more`]
}
