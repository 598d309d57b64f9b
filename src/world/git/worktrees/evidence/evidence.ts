import path from 'node:path'
import {
  type ChangedFile,
  evidenceOf,
  type DetailedEvidence,
  type Snapshot,
} from '../../../../core/loop/work-evidence.ts'
import { type RawPath, rawPath, displayPath } from '../../../../lib/text/raw-path.ts'
import type { Instant } from '../../../../lib/time.ts'
import type { WorkerTrace } from '../../../../ports/worktrees.ts'
import { NO_INDEX } from '../../git.ts'
import { GitError } from '../../git-error.ts'
import { ONESHOT_IDENTITY } from '../../repository.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import { lstat } from '../../../../os/files/lstat-if-exists.ts'
import { type NewCommit, writeLooseCommit } from '../../loose-objects.ts'
import { removeStaleLock, UPDATE_REF } from '../../update-ref.ts'
import { type FileDiff, DIFF_TREES, parseFileDiffs } from '../../checkpoint/save/tree-diff.ts'
import { operationInProgress } from '../../repository.ts'
import { syncObjects } from '../../fsync-objects.ts'
import { uncommittedPaths } from './uncommitted-paths.ts'
import { excludePaths } from '../stage-working-tree.ts'
import { findNewConflicts } from './conflict-markers.ts'
import { attributeWork } from './attribution.ts'
import { type StagedWorkingTree, stageWorkingTree } from '../stage-working-tree.ts'
import { reflogSize } from './reflog.ts'
import { WORK_REFS } from '../context.ts'
import { resolveObjects } from '../revisions/resolve-commits.ts'

/** Takes a snapshot and stores it: a ref protects the last snapshot of each worktree. */
export async function takeSnapshot(context: RepositoryContext, keepAs?: string): Promise<Snapshot> {
  return (await stageAndProtect(context, keepAs)).snapshot
}

/** Does the same as `takeSnapshot` and returns the status as well. */
async function stageAndProtect(
  context: RepositoryContext,
  keepAs: string | undefined,
): Promise<{ snapshot: Snapshot; staged: StagedWorkingTree }> {
  const staged = await stageWorkingTree(context)
  const { tree, status } = staged
  const { head } = status
  const commit = await createSnapshotCommit(context, { tree, parents: head === null ? [] : [head] })
  await syncObjects(context, [commit])
  await removeStaleLock(context)
  const refs = [context.ref, ...(keepAs === undefined ? [] : [`${WORK_REFS}/${keepAs}`])]
  const input = refs.map(ref => `update ${ref} ${commit}\n`).join('')
  await context.git.run([...UPDATE_REF, '--stdin'], { input })
  return { snapshot: { head, tree, reflog: reflogSize(context.repository.gitDir) }, staged }
}

/** The same snapshot is the same commit: it has no time of its own. */
async function createSnapshotCommit(
  context: RepositoryContext,
  { tree, parents }: Pick<NewCommit, 'tree' | 'parents'>,
): Promise<string> {
  const message = 'oneshot: as it was seen last'
  const commit = writeLooseCommit(context, { tree, parents, seconds: 0, message }, [])
  if (commit !== null) return commit
  const date = '@0 +0000'
  const env = { ...ONESHOT_IDENTITY, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date }
  const args = ['commit-tree', tree, ...parents.flatMap(parent => ['-p', parent]), '-m', message]
  return context.git.runForLine(args, { env })
}

export interface EvidenceRequest {
  readonly since: Snapshot
  readonly excludedPaths: readonly string[]
  readonly worker?: WorkerTrace | null | undefined
  readonly begunAt?: Instant | undefined
  readonly branch?: string | null | undefined
  /** The name of a ref that protects the snapshot from garbage collection. */
  readonly backupName?: string | undefined
}

export async function collectEvidence(
  context: RepositoryContext,
  cwd: string,
  { since, excludedPaths, ...asked }: EvidenceRequest,
): Promise<DetailedEvidence> {
  const { top, gitDir, emptyIds } = context.repository
  const isExcluded = excludePaths(top, cwd, excludedPaths)
  const { snapshot: now, staged } = await stageAndProtect(context, asked.backupName)
  const head = now.head === null ? emptyIds.tree : `${now.head}^{tree}`
  const found = await diffSince(context, [since.tree, head, now.tree], {
    instead: `${since.head ?? emptyIds.tree}^{tree}`,
    uncommitted: uncommittedPaths(staged),
  })
  if (found === null) return lostBaseline(now, operationInProgress(gitDir))
  const uncommitted = new Set(found.uncommitted)
  const from = path.relative(top, cwd)
  const all = found.files
    .filter(line => !isExcluded(line.path))
    .map(
      (line): ChangedFile => ({
        ...line,
        name: path.relative(from, displayPath(line.path)),
        isCommitted: !uncommitted.has(line.path),
        isOwn: true,
      }),
    )
  const { changed, dropped, ...credit } = await attributeWork(context, {
    since,
    now,
    changed: all,
    worker: asked.worker ?? null,
    begunAt: asked.begunAt ?? null,
    branch: asked.branch ?? null,
  })
  const own = changed.filter(({ isOwn }) => isOwn)
  const marked = await findNewConflicts(context, own)
  const unmerged = found.unmerged.map(displayPath)
  return {
    ...evidenceOf({ ...credit, now }, own),
    changed,
    loose: uncommitted,
    underWay: operationInProgress(gitDir) ?? (unmerged.length > 0 ? UNMERGED : null),
    conflicts: [...new Set([...unmerged, ...marked])],
    ...(dropped !== undefined && { dropped }),
  }
}

/** Nobody can tell the changes of a worker that has deleted the state from before its work. */
function lostBaseline(now: Snapshot, underWay: string | null): DetailedEvidence {
  const none = evidenceOf({ commits: [], commitCount: 0, now }, [])
  return { ...none, changed: [], loose: new Set(), underWay, conflicts: [], isBaselineLost: true }
}

/** `git stash pop`, for example, leaves this state. */
const UNMERGED = 'a merge without its end'

interface EvidenceDiff {
  readonly files: readonly FileDiff[]
  readonly unmerged: RawPath[]
  readonly uncommitted: RawPath[]
}

const DIFF_COMMAND = DIFF_TREES.filter(word => word !== '-t')

/** An unreadable user's index counts as free of conflicts. */
const COMPARE_SCRIPT = `
[ "$5" = known ] || git ${DIFF_COMMAND.join(' ')} "$1" "$3" || exit
printf 'then\\0'
[ "$4" = settled ] || (unset GIT_INDEX_FILE; git ls-files --unmerged -z 2>/dev/null)
printf 'then\\0'
git diff-tree -r -z --name-only --no-renames "$2" "$3"
`

interface KnownFacts {
  /** The tree to start from if `git gc` has removed the first one. */
  readonly instead: string
  /** The paths in which the third tree differs from the second; null if unknown. */
  readonly uncommitted: RawPath[] | null
}

/**
 * Compares the first of three trees with the third, and lists the paths in which the third differs from the second.
 * Runs git only for facts that the snapshot has not shown. Returns null if git has lost the first tree and its
 * replacement.
 */
async function diffSince(
  context: RepositoryContext,
  trees: readonly [string, string, string],
  facts: KnownFacts,
): Promise<EvidenceDiff | null> {
  const { git } = context
  const index = indexStamp(context)
  // The snapshot has just compared the same two trees in most cases.
  const staged = context.cache.lastTreeDiff
  const known = staged?.trees === `${trees[0]} ${trees[2]}` ? staged.files : null
  const indexState = conflictFreeIndexes.get(context.repository.gitDir) === index ? 'settled' : 'look'
  const { uncommitted, instead } = facts
  if (known !== null && uncommitted !== null && indexState === 'settled')
    return { files: known, unmerged: [], uncommitted }
  const args = [...trees, indexState, known === null ? 'compare' : 'known']
  const result = await git.runScript(COMPARE_SCRIPT, args, { index: NO_INDEX })
  if (result.code !== 0) {
    const [first, other] = await resolveObjects(git, [`${trees[0]}^{tree}`, instead])
    if (first !== null) throw new GitError('diff-tree', result)
    if (!other) return null
    return diffSince(context, [other, trees[1], trees[2]], facts)
  }
  const found = parseEvidenceDiff(result.stdout)
  conflictFreeIndexes.set(context.repository.gitDir, found.unmerged.length === 0 ? index : '')
  return known === null ? found : { ...found, files: known }
}

/** For each repository, the stamp of the user's index when it had no conflicts. */
const conflictFreeIndexes = new Map<string, string>()

function indexStamp({ repository }: RepositoryContext): string {
  const stat = lstat(path.join(repository.gitDir, 'index'))
  return stat === undefined ? 'none' : `${stat.mtimeMs} ${stat.ctimeMs} ${stat.size} ${stat.ino}`
}

function parseEvidenceDiff(stdout: Buffer): EvidenceDiff {
  const words = rawPath(stdout).split('\0').slice(0, -1)
  const first = endOfFirstPart(words)
  const second = words.indexOf('then', first + 1)
  return {
    files: parseFileDiffs(words.slice(0, first)),
    unmerged: words.slice(first + 1, second).map(word => word.slice(word.indexOf('\t') + 1)),
    uncommitted: words.slice(second + 1),
  }
}

/** A file may have the same name as the separator: the reader skips the word after each entry. */
function endOfFirstPart(words: readonly string[]): number {
  let at = 0
  while (words[at]?.startsWith(':')) at += 2
  return words.indexOf('then', at)
}
