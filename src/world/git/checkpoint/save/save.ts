import { addDiffStats } from '../../../../core/checkpoint/checkpoint.ts'
import { Mask } from '../../../../lib/mask/mask.ts'
import { cacheTip, readRecord, readTip } from '../history.ts'
import { GitError } from '../../git-error.ts'
import type { CheckpointCommit } from '../commits.ts'
import { type CheckpointTrailers, formatMessage } from '../commit-message.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import { type TreeDiff, diffTrees } from './tree-diff.ts'
import type { PreviousState } from './carry-over.ts'
import { type StagedChanges, previousTree, stageChanges, writeIndexTree } from './stage-changes.ts'
import { syncObjects } from '../../objects.ts'
import { PrivateIndex, discardIndex } from './private-index.ts'
import { isUnchangedSince, readGitDirStamp, recordPrevious, rollBackIfBroken, rollBackToIntact } from './gc-race.ts'
import { commitOnBranch, repairUserIndex } from './branch-commit.ts'
import type { SaveOptions, SaveOutcome } from './types.ts'
import fs from 'node:fs'
import path from 'node:path'
import { ONESHOT_IDENTITY } from '../../repository.ts'
import { UPDATE_REF, removeStaleLock, syncRef } from '../../update-ref.ts'

/**
 * Saves one working tree, and first the nested ones. If git reports that the private index does not fit, because
 * somebody replaced objects or the whole repository, it retries with a new index. Only if that fails, too, it checks
 * the earlier checkpoints and goes back to an intact one.
 */
export async function save(context: RepositoryContext, options: SaveOptions): Promise<SaveOutcome> {
  try {
    return await trySave(context, options)
  } catch (cause) {
    if (!(cause instanceof GitError)) throw cause
    discardIndex(context)
    return trySave(context, options).catch(async (again: unknown) => {
      if (!(again instanceof GitError)) throw again
      await rollBackToIntact(context)
      return trySave(context, options)
    })
  }
}

async function trySave(context: RepositoryContext, options: SaveOptions): Promise<SaveOutcome> {
  if (await rollBackIfBroken(context)) discardIndex(context)
  if (context.path === '') await repairUserIndex(context)
  const gitDirStamp = readGitDirStamp(context)
  const last = await readTip(context)
  const number = Math.max(options.number, (last?.trailers.number ?? 0) + 1)
  const index = await PrivateIndex.open(context)
  try {
    const staged = await stageChanges(context, index, {
      wish: { ...options, number },
      before: toPreviousState(last),
      save,
    })
    const made = await createCheckpoint(context, index, {
      previous: last,
      staged,
      options: { ...options, number },
      gitDirStamp,
    })
    return { created: made, previous: last, head: made?.trailers.head ?? staged.status.head, nested: staged.nested }
  } catch (cause) {
    index.discard()
    throw cause
  }
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
  await syncObjects(context, diff.objects, staged.isSynced)
  const isVisible = options.request.isVisible && context.path === ''
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
    gitDirStamp,
  })
  index.persist(notes)
  return checkpoint
}

function isUnchanged(context: RepositoryContext, tree: string, { previous, staged }: SaveInput): boolean {
  const { status, nested } = staged
  // An untouched nested repository needs no checkpoint: the outer one records its HEAD.
  if (previous === null) return context.path !== '' && status.differences.length === 0 && nested.every(isUntouched)
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
  // A file name may contain a secret, too.
  const mask = new Mask(context.secrets)
  const leftOut = limitList([...(note === undefined ? [] : [note]), ...staged.leftOut]).map(text => mask.maskText(text))
  const change = addDiffStats(diff.change, staged.nestedChange)
  const { nested } = staged
  const { sessionId, path } = context
  return { number: options.number, sessionId, path, at, trigger, attempt, head, change, leftOut, nested }
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
  /** The stamp from before the first write. */
  readonly gitDirStamp: string
}

/**
 * Creates the commit and moves the ref if it still points to the previous checkpoint. All objects of the commit are
 * durable before; the commit becomes durable before the ref.
 */
async function commitCheckpoint(context: RepositoryContext, draft: CheckpointDraft): Promise<CheckpointCommit> {
  const { tree, trailers, previous, objects } = draft
  const before = previous?.commit ?? null
  await removeStaleLock(context)
  const commit = await commitAndUpdateRef(context, draft)
  await syncObjects(context, [commit])
  await syncRef(context)
  const unverified = { commit, before, objects: [commit, ...objects] }
  if (!isUnchangedSince(context, draft.gitDirStamp) && (await rollBackIfBroken(context, unverified))) {
    throw new GitError('gc', { code: 1, stderr: 'git gc removed the saved files' })
  }
  const link: CheckpointCommit = { commit, tree, trailers }
  cacheTip(context, link)
  recordPrevious(context, before)
  return link
}

/** The parents are the previous checkpoint and HEAD, so that the ref also keeps the commits of that time. */
async function commitAndUpdateRef(
  { git, ref, repository, folder }: RepositoryContext,
  draft: CheckpointDraft,
): Promise<string> {
  const { tree, trailers, record, previous } = draft
  const parents = [previous?.commit, trailers.head].flatMap(parent => (parent ? ['-p', parent] : []))
  const seconds = `@${Math.floor(trailers.at / 1000)} +0000`
  // We pass the message in a file: if oneshot were killed during a write to stdin, git would commit the part that
  // arrived.
  const message = path.join(folder, 'message')
  fs.writeFileSync(message, formatMessage(trailers, record), { mode: 0o600 })
  const args = [ref, previous?.commit ?? repository.emptyIds.commit, '-F', message, tree, ...parents]
  const env = { ...ONESHOT_IDENTITY, GIT_AUTHOR_DATE: seconds, GIT_COMMITTER_DATE: seconds }
  const result = await git.runScript(COMMIT_SCRIPT, args, { env })
  if (result.code !== 0) throw new GitError('commit-tree', result)
  return result.stdout.toString().trim()
}

const COMMIT_SCRIPT = `
ref=$1 before=$2
shift 2
commit=$(git commit-tree "$@") || exit
echo "$commit"
git ${UPDATE_REF.join(' ')} "$ref" "$commit" "$before"
`

const MAX_LISTED = 5

/** Returns a few sentences and the number of the others. */
export function limitList(sentences: readonly string[]): string[] {
  if (sentences.length <= MAX_LISTED) return [...sentences]
  return [...sentences.slice(0, MAX_LISTED - 1), `and ${sentences.length - MAX_LISTED + 1} more`]
}
