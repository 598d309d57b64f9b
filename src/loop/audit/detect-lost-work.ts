import { evidenceOf, type WorkEvidence, type FileChange, type DetailedEvidence } from '../../core/loop/work-evidence.ts'
import type { Loop, LoopTask, PreviousCompletion } from '../../core/loop/loop-state.ts'
import {
  type UnreachableCommits,
  isEntryLost,
  type LostWork,
  describeLostWork,
  findLostPaths,
  pathsWritten,
} from '../../core/loop/lost-work/lost-work.ts'
import { needsTree, spanOf, type WorkSpan, workSpan } from '../../core/loop/lost-work/lost-work.ts'
import type { SessionId } from '../../core/session/session-id-and-name.ts'
import { describeDroppedCommits, userCommits } from '../../core/loop/lost-work/dropped-commits.ts'
import { shortHash } from '../../core/loop/lost-work/restore-command.ts'
import { rawPath } from '../../lib/text/raw-path.ts'
import type { Worktrees } from '../../ports/worktrees.ts'
import { describeThinned } from './partial-losses.ts'
import { describeUncommitted } from './partial-losses.ts'
import type { FinishedWork } from './partial-losses.ts'

/** Lost work, and the paths that prove it. */
export interface AuditResult {
  readonly losses: readonly LostWork[]
  readonly paths: ReadonlySet<string>
  /** Files of finished work that have lost most of their lines or their commit, one sentence each. */
  readonly shortenedFiles: readonly string[]
}

/** The changes to compare with finished work. */
interface Comparison {
  readonly changes: readonly (FileChange & { readonly removed?: number })[]
  readonly pair: readonly [from: string, to: string]
  /** The worktree with the newer tree, and its branch; absent: the loop's own checkout. */
  readonly worktree?: { readonly cwd: string; readonly branch: string } | undefined
  /** Files that later tasks have changed: fewer lines in them prove nothing. */
  readonly editedLater?: ReadonlySet<string>
}

/** The end of an iteration of a task. */
interface IterationResult {
  readonly task: LoopTask
  readonly since: WorkSpan['since']
  readonly seen: DetailedEvidence
  readonly at: Comparison['worktree']
}

const NO_LOSSES: AuditResult = { losses: [], paths: new Set(), shortenedFiles: [] }

/**
 * Detects lost work of finished tasks. It reads the files of each finished task from git once and caches them; each
 * later audit compares only the changes since the one before.
 */
export class Audit {
  readonly #worktrees: Worktrees
  readonly #cwd: string
  readonly #id: SessionId
  readonly #isTop: boolean
  readonly #excludedPaths: readonly string[]
  readonly #filesBySpan = new Map<string, readonly FileChange[]>()
  #last: string | null = null

  /** `inner`: the loop's folder within its checkout. `apart`: the list's own files, from the top of the checkout. */
  constructor(given: { worktrees: Worktrees; cwd: string; id: SessionId; inner: string; apart: readonly string[] }) {
    this.#worktrees = given.worktrees
    this.#cwd = given.cwd
    this.#id = given.id
    this.#isTop = given.inner === ''
    this.#excludedPaths = given.apart.map(file => rawPath(Buffer.from(file)))
  }

  /** Compares all finished work with a whole tree. */
  async auditAll(loop: Loop, tree: string): Promise<AuditResult> {
    this.#last = tree
    const works = await this.#finishedWork(loop, { withYours: false })
    if (works.length === 0) return NO_LOSSES
    const present = await this.#worktrees.listTree(this.#cwd, tree)
    const found: AuditResult[] = []
    for (const work of works) {
      const changes = work.files.map(({ path, after }) => ({ path, before: after, after: present.get(path) ?? null }))
      found.push(
        await this.#audit([work], { changes, pair: [work.span.now.tree, tree], editedLater: editedAfter(work, works) }),
      )
    }
    return {
      losses: found.flatMap(({ losses }) => losses),
      paths: new Set(found.flatMap(({ paths }) => [...paths])),
      shortenedFiles: found.flatMap(({ shortenedFiles }) => shortenedFiles),
    }
  }

  /** Returns the losses since the last audit. */
  async auditSince(loop: Loop, tree: string): Promise<AuditResult> {
    const last = this.#last
    this.#last = tree
    if (last === null || last === tree) return NO_LOSSES
    const [changes] = await this.#worktrees.diffTrees(this.#cwd, [[last, tree]])
    return changes ? this.auditChanges(loop, { changes, pair: [last, tree] }) : NO_LOSSES
  }

  /** Returns the losses that an iteration caused. The evidence covers its other changes. */
  async auditIteration(
    loop: Loop,
    { task, since, seen, at }: IterationResult,
  ): Promise<AuditResult & { evidence: WorkEvidence; notes: readonly string[] }> {
    if (seen.isBaselineLost === true && loop.branch === null) return this.#auditWithoutBaseline(loop, seen)
    if (loop.branch === null) this.#last = seen.now.tree
    const audited = await this.auditChanges(loop, {
      changes: seen.changed,
      pair: [since.tree, seen.now.tree],
      worktree: at,
    })
    const dropped = await this.#auditDropped(loop, { task, since, seen })
    const isOwnWork = ({ path, isOwn }: DetailedEvidence['changed'][number]): boolean =>
      isOwn && !audited.paths.has(path) && !dropped.paths.has(path)
    const own = seen.changed.filter(isOwnWork)
    const notOwn = seen.changed.filter(change => !isOwnWork(change)).map(({ path }) => path)
    this.#filesBySpan.set(
      spanKey({ since, now: seen.now }),
      own.map(({ path, before, after }) => ({ path, before, after })),
    )
    const uncommitted = loop.branch === null ? await this.#findUncommitted(loop, since, seen) : []
    return {
      ...audited,
      shortenedFiles: [...audited.shortenedFiles, ...uncommitted],
      evidence: evidenceOf(seen, own, notOwn),
      notes: dropped.notes,
    }
  }

  /** Without the state from before an iteration, the audit compares everything with the present tree. */
  async #auditWithoutBaseline(
    loop: Loop,
    seen: DetailedEvidence,
  ): Promise<AuditResult & { evidence: WorkEvidence; notes: readonly string[] }> {
    const finished = await this.auditAll(loop, seen.now.tree)
    const paths = new Set((await this.userFiles(loop)).map(({ path }) => path))
    const { losses } = await this.auditUserFiles(loop, seen.now.tree, paths)
    return { ...finished, losses: [...finished.losses, ...losses], evidence: evidenceOf(seen, []), notes: [] }
  }

  /** Finds the content of earlier commits that the branch has lost: its absence is nobody's work. */
  async #auditDropped(
    loop: Loop,
    { task, since, seen }: Omit<IterationResult, 'at'>,
  ): Promise<{ paths: ReadonlySet<string>; notes: readonly string[] }> {
    const { dropped } = seen
    if (dropped === undefined || since.head === null) return { paths: new Set(), notes: [] }
    const files = dropped.files.filter(({ path }) => !this.#isExcluded(path))
    const lost = findLostPaths(files, seen.changed)
    const pair = [since.tree, seen.now.tree] as const
    const moved = lost.length === 0 ? new Set() : await this.#worktrees.findMovedPaths(this.#cwd, pair, lost)
    const paths = lost.filter(path => !moved.has(path))
    const ids = userCommits(loop, dropped.ids)
    // A loop with worktrees merges the branch of a task, which takes no commit off another branch. During a rebase the
    // branch itself still has its commits.
    if (loop.branch !== null || seen.underWay !== null || ids.length === 0 || dropped.isByWorker === false)
      return { paths: new Set(paths), notes: [] }
    await this.#worktrees.backUpCommit(this.#cwd, `${this.#id}/dropped/${shortHash(since.head)}`, since.head)
    const branch = loop.userBranch ?? 'HEAD'
    const note = describeDroppedCommits({ dropped, ids, paths, head: since.head, branch, task: task.item.label })
    return { paths: new Set(paths), notes: [note] }
  }

  async #findUncommitted(loop: Loop, since: WorkSpan['since'], seen: DetailedEvidence): Promise<readonly string[]> {
    if (seen.now.head === since.head || seen.loose.size === 0) return []
    const droppedOf = async (commits: readonly string[]): Promise<readonly string[]> => {
      const now = await this.#worktrees.findUnreachable(this.#cwd, commits)
      const before =
        now.length === 0 ? [] : await this.#worktrees.findUnreachable(this.#cwd, now, since.head ?? undefined)
      return now.filter(id => !before.includes(id))
    }
    return describeUncommitted(await this.#finishedWork(loop, { withYours: false }), seen, {
      isTop: this.#isTop,
      droppedOf,
    })
  }

  async auditChanges(loop: Loop, compared: Comparison): Promise<AuditResult> {
    if (compared.changes.length === 0) return NO_LOSSES
    return this.#audit(await this.#finishedWork(loop, { withYours: loop.branch === null }), compared)
  }

  /** Returns true if lost work exists again. */
  async isRestored(
    { state, checkout, evidence }: PreviousCompletion,
    kept: readonly FileChange[],
    tree: string,
  ): Promise<boolean> {
    if (state.name !== 'done' || checkout === null) return false
    const [made] = await this.#changedFiles([spanOf(checkout.since, evidence)])
    const files = addKept(made ?? [], kept)
    if (files.length === 0) return false
    const present = await this.#worktrees.listTree(this.#cwd, tree)
    return files.every(({ path, before, after }) => {
      const now = present.get(path) ?? null
      return now === after || (now !== before && after !== null && !isEntryLost(after, now))
    })
  }

  /** Compares those of these paths that the user had not committed at the start of the loop with a whole tree. */
  async auditUserFiles(loop: Loop, tree: string, paths: ReadonlySet<string>): Promise<AuditResult> {
    const files = (await this.userFiles(loop)).filter(({ path }) => paths.has(path))
    if (files.length === 0 || loop.userChanges === undefined) return NO_LOSSES
    const present = await this.#worktrees.listTree(this.#cwd, tree)
    const changes = files.map(({ path, after }) => ({ path, before: after, after: present.get(path) ?? null }))
    return this.#audit([{ task: null, span: loop.userChanges, files }], {
      changes,
      pair: [loop.userChanges.now.tree, tree],
    })
  }

  async userFiles(loop: Loop): Promise<readonly FileChange[]> {
    const works = await this.#finishedWork(loop, { withYours: true })
    return works.find(({ task }) => task === null)?.files ?? []
  }

  async #audit(works: readonly FinishedWork[], compared: Comparison): Promise<AuditResult> {
    const { changes, pair } = compared
    const suspected = works
      .map(work => ({ ...work, paths: findLostPaths(work.files, changes) }))
      .filter(({ paths }) => paths.length > 0)
    const all = new Set(suspected.flatMap(({ paths }) => paths))
    const shortenedFiles = await describeThinned(works, { ...compared, lost: all, isTop: this.#isTop }, hashes =>
      this.#worktrees.readBlobs(this.#cwd, hashes),
    )
    if (suspected.length === 0) return { ...NO_LOSSES, shortenedFiles }
    const gone = changes.filter(({ path, before, after }) => all.has(path) && isEntryLost(before, after))
    const paths = gone.map(({ path }) => path)
    const moved = paths.length === 0 ? new Set() : await this.#worktrees.findMovedPaths(this.#cwd, pair, paths)
    const lost = suspected
      .map(work => ({ ...work, paths: work.paths.filter(path => !moved.has(path)) }))
      .filter(({ paths: left }) => left.length > 0)
    const losses = await Promise.all(lost.map(work => this.#describeLoss(work, compared)))
    return { losses, paths: new Set(lost.flatMap(({ paths: left }) => left)), shortenedFiles }
  }

  async #describeLoss(work: FinishedWork & { paths: readonly string[] }, compared: Comparison): Promise<LostWork> {
    const { task, span, files, paths } = work
    const cwd = compared.worktree?.cwd ?? this.#cwd
    const dropped = await this.#findDropped(work, compared, cwd)
    const isDeleted = !dropped.canBePicked && !(await this.#hasTree(span.now.tree))
    return describeLostWork({
      task: task?.item.key ?? null,
      work: files,
      paths,
      span,
      dropped,
      isDeleted,
      branch: compared.worktree?.branch ?? (await this.#worktrees.head(cwd)).branch ?? 'HEAD',
      isTop: this.#isTop,
      tree: !isDeleted && needsTree(files, paths) ? await this.#backUpLost(files, paths) : null,
      ignored: isDeleted ? new Map() : await this.#findIgnored(cwd, paths, compared),
    })
  }

  /** Returns false if git has deleted a tree, and its files with it. */
  async #hasTree(tree: string): Promise<boolean> {
    const [found] = await this.#worktrees.diffTrees(this.#cwd, [[tree, tree]])
    return found !== null
  }

  /** A snapshot has no file that git ignores. */
  #findIgnored(cwd: string, paths: readonly string[], { changes }: Comparison): Promise<ReadonlyMap<string, boolean>> {
    const missing = new Set(changes.flatMap(({ path, after }) => (after === null ? [path] : [])))
    return this.#worktrees.findIgnored(
      cwd,
      paths.filter(path => missing.has(path)),
    )
  }

  /** Stores a tree of only the lost files: one command restores all of them, with any number of files and any names. */
  #backUpLost(files: readonly FileChange[], paths: readonly string[]): Promise<string> {
    const made = new Set(pathsWritten(files, paths))
    const entries = files.flatMap(({ path, after }) =>
      after !== null && made.has(path) ? [{ path, entry: after }] : [],
    )
    return this.#worktrees.backUpFiles(this.#cwd, `${this.#id}/lost`, entries)
  }

  async #findDropped({ task, files }: FinishedWork, { changes }: Comparison, cwd: string): Promise<UnreachableCommits> {
    const evidence = task?.evidence ?? null
    const commits = evidence?.commits.map(({ id }) => id) ?? []
    if (evidence === null || commits.length === 0) return { ids: [], canBePicked: false }
    const ids = await this.#worktrees.findUnreachable(cwd, commits)
    const present = new Map(changes.map(({ path, after }) => [path, after]))
    const isAsBefore = files.every(({ path, before }) => present.get(path) === before)
    const isAll = ids.length === evidence.commitCount && evidence.uncommitted === 0
    return { ids, canBePicked: isAll && isAsBefore }
  }

  async #finishedWork(loop: Loop, { withYours }: { withYours: boolean }): Promise<FinishedWork[]> {
    const spans: { task: LoopTask | null; span: WorkSpan }[] = loop.tasks.flatMap(task => {
      const span = workSpan(task)
      return span === null ? [] : [{ task, span }]
    })
    if (withYours && loop.userChanges !== undefined) spans.push({ task: null, span: loop.userChanges })
    const found = await this.#changedFiles(spans.map(({ span }) => span))
    return spans.map(({ task, span }, n) => ({ task, span, files: addKept(found[n] ?? [], task?.remainingWork ?? []) }))
  }

  /** Returns the changes within each of these spans. */
  async #changedFiles(spans: readonly WorkSpan[]): Promise<(readonly FileChange[])[]> {
    const unknown = spans.filter(span => !this.#filesBySpan.has(spanKey(span)))
    const found = await this.#worktrees.diffTrees(
      this.#cwd,
      unknown.map(({ since, now }) => [since.tree, now.tree] as const),
    )
    // The audit cannot compare a span whose objects git has lost.
    for (const [n, span] of unknown.entries()) {
      const notOwn = new Set(span.notOwn)
      const files = (found[n] ?? []).filter(({ path }) => !this.#isExcluded(path) && !notOwn.has(path))
      this.#filesBySpan.set(spanKey(span), files)
    }
    return spans.map(span => this.#filesBySpan.get(spanKey(span)) ?? [])
  }

  #isExcluded(file: string): boolean {
    return (
      this.#excludedPaths.some(one => file === one || file.startsWith(`${one}/`)) || file.split('/').includes('.agent')
    )
  }
}

function addKept(made: readonly FileChange[], kept: readonly FileChange[]): readonly FileChange[] {
  const paths = new Set(made.map(({ path }) => path))
  return [...made, ...kept.filter(({ path }) => !paths.has(path))]
}

function spanKey({ since, now }: WorkSpan): string {
  return `${since.tree} ${now.tree}`
}

/** Returns paths that other tasks have changed after this one. */
function editedAfter({ task }: FinishedWork, works: readonly FinishedWork[]): ReadonlySet<string> {
  const doneAt = (one: LoopTask | null): number => (one?.state.name === 'done' ? one.state.at : 0)
  const later = works.filter(other => other.task !== task && doneAt(other.task) >= doneAt(task))
  return new Set(later.flatMap(({ files }) => files.map(({ path }) => path)))
}
