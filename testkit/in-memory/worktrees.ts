import type { ChangedFile, DetailedEvidence, FileChange, Snapshot } from '../../src/core/loop/work-evidence.ts'
import { evidenceOf } from '../../src/core/loop/work-evidence.ts'
import { invariant, Trouble } from '../../src/lib/errors.ts'
import type {
  EvidenceOptions,
  Head,
  LandedList,
  MergeResult,
  RemoveResult,
  RepositoryState,
  ReturnResult,
  TreeFile,
  UserRefs,
  Worktree,
  Worktrees,
} from '../../src/ports/worktrees.ts'
import type { Files, InMemoryGit } from './git.ts'

const NO_FILES: Files = new Map()

/** Implements worktrees on a repository in memory. Agents leave no traces, and nobody changes git's settings. */
export class InMemoryWorktrees implements Worktrees {
  readonly #git: InMemoryGit

  constructor(git: InMemoryGit) {
    this.#git = git
  }

  async inspect(cwd: string): Promise<RepositoryState | null> {
    const checkout = this.#git.checkouts.get(cwd)
    if (checkout === undefined) return null
    const head = this.#git.head(cwd)
    const isClean = this.#diff(this.#git.filesOf(head ?? '') ?? NO_FILES, checkout.files).length === 0
    return { top: cwd, branch: checkout.branch, head, isClean, gitDir: `${cwd}/.git` }
  }

  hasFolder(cwd: string): boolean {
    return this.#git.checkouts.has(cwd)
  }

  hasRepository(top: string): boolean {
    return this.#git.checkouts.has(top)
  }

  async initRepository(cwd: string): Promise<void> {
    if (this.#git.checkouts.has(cwd)) return
    this.#git.checkouts.set(cwd, { branch: 'main', files: new Map(), mergeHead: null })
    this.#git.commit(cwd, 'first')
  }

  async snapshot(cwd: string, backupName?: string): Promise<Snapshot> {
    const tree = this.#git.writeTree(this.#git.checkout(cwd).files)
    if (backupName !== undefined) this.#git.refs.set(`refs/oneshot-loop/work/${backupName}`, tree)
    return { head: this.#git.head(cwd), tree }
  }

  async collectEvidence(
    cwd: string,
    since: Snapshot,
    excludedPaths: readonly string[],
    { backupName }: EvidenceOptions = {},
  ): Promise<DetailedEvidence> {
    const { files, mergeHead } = this.#git.checkout(cwd)
    const now = await this.snapshot(cwd, backupName)
    const committed = this.#git.filesOf(now.head ?? '') ?? NO_FILES
    const before = this.#git.filesOf(since.tree) ?? NO_FILES
    const changed = this.#diff(before, files)
      .filter(({ path }) => !excludedPaths.includes(path))
      .map((change): ChangedFile => {
        const [old, text] = [lines(before.get(change.path)), lines(files.get(change.path))]
        const added = text.filter(line => !old.includes(line)).length
        const removed = old.filter(line => !text.includes(line)).length
        const isCommitted = committed.get(change.path) === files.get(change.path)
        return { ...change, name: change.path, added, removed, isCommitted, isOwn: true }
      })
    const commits = this.#git
      .ancestry(now.head)
      .filter(({ id }) => !this.#git.contains(since.head, id))
      .map(({ id, message }) => ({ id, subject: message.split('\n')[0] ?? '' }))
    return {
      ...evidenceOf({ commits, commitCount: commits.length, now }, changed),
      changed,
      loose: new Set(this.#diff(committed, files).map(({ path }) => path)),
      underWay: mergeHead === null ? null : 'a merge is unfinished',
      conflicts: this.findConflictMarkers(cwd, [...files.keys()]),
    }
  }

  async diffTrees(
    _cwd: string,
    pairs: readonly (readonly [from: string, to: string])[],
  ): Promise<(readonly FileChange[] | null)[]> {
    return pairs.map(([from, to]) => {
      const [one, other] = [this.#git.filesOf(from), this.#git.filesOf(to)]
      return one === null || other === null ? null : this.#diff(one, other)
    })
  }

  async listTree(_cwd: string, tree: string): Promise<ReadonlyMap<string, string>> {
    const files = this.#git.filesOf(tree) ?? NO_FILES
    return new Map([...files].map(([file, text]) => [file, this.#git.entry(text)]))
  }

  async listFiles(cwd: string): ReturnType<Worktrees['listFiles']> {
    return { top: cwd, files: [...this.#git.checkout(cwd).files.keys()], ignored: [] }
  }

  async readBlobs(_cwd: string, hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return new Map(
      hashes
        .flatMap(id => [[id, this.#git.blob(id)] as const])
        .flatMap(([id, text]) => (text === undefined ? [] : [[id, text] as const])),
    )
  }

  async readTextChanges(
    { top }: { readonly top: string },
    changed: readonly FileChange[],
  ): ReturnType<Worktrees['readTextChanges']> {
    const text = (entry: string | null): string | null => this.#git.blob(entry?.split(' ')[1] ?? '') ?? entry
    const changes = changed.map(({ path, before, after }) => ({ path, before: text(before), after: text(after) }))
    const old = new Map(changes.map(({ path, before }) => [path, before]))
    const read = (file: string): string | null => old.get(file) ?? this.#git.checkout(top).files.get(file) ?? null
    return { changes, read }
  }

  findConflictMarkers(top: string, files: readonly string[]): string[] {
    const texts = this.#git.checkout(top).files
    return files.filter(file => /^(?:<{7}|>{7})(?: |$)/m.test(texts.get(file) ?? ''))
  }

  fileStamps(top: string, paths: readonly string[]): ReadonlyMap<string, string> {
    const { files } = this.#git.checkout(top)
    return new Map(paths.map(file => [file, files.has(file) ? this.#git.entry(files.get(file) ?? '') : '']))
  }

  async findIgnored(): Promise<ReadonlyMap<string, boolean>> {
    return new Map()
  }

  async findMovedPaths(
    _cwd: string,
    [from, to]: readonly [from: string, to: string],
    paths: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const [before, after] = [this.#git.filesOf(from) ?? NO_FILES, this.#git.filesOf(to) ?? NO_FILES]
    const isElsewhere = (file: string): boolean =>
      [...after].some(([other, text]) => other !== file && !before.has(other) && text === before.get(file))
    return new Set(paths.filter(isElsewhere))
  }

  async findUnreachable(cwd: string, commits: readonly string[], from?: string): Promise<readonly string[]> {
    const tip = from ?? this.#git.head(cwd)
    return commits.filter(id => !this.#git.contains(tip, id)).toReversed()
  }

  async traceFile(): Promise<string | null> {
    return null
  }

  /** A working tree is always on a branch, and an agent can leave that branch only for another one. */
  async returnToBranch(cwd: string, branch: string): Promise<ReturnResult> {
    const checkout = this.#git.checkout(cwd)
    const from = checkout.branch
    if (from === branch) return { kind: 'there' }
    const [head, tip] = [this.#git.head(cwd), this.#git.refs.get(`refs/heads/${branch}`) ?? null]
    checkout.branch = branch
    if (head !== null && (tip === null || this.#git.contains(head, tip))) {
      this.#git.refs.set(`refs/heads/${branch}`, head)
      return { kind: 'followed', from }
    }
    checkout.files = new Map(this.#git.filesOf(tip ?? '') ?? [])
    return { kind: 'returned', from, head }
  }

  async head(cwd: string): Promise<Head> {
    return { commit: this.#git.head(cwd), branch: this.#git.checkout(cwd).branch, reflog: 0 }
  }

  async hindrances(): ReturnType<Worktrees['hindrances']> {
    return []
  }

  async deleted(cwd: string, commit: string): Promise<readonly string[]> {
    const { files } = this.#git.checkout(cwd)
    return [...(this.#git.filesOf(commit) ?? NO_FILES).keys()].filter(file => !files.has(file))
  }

  async wasPointed(): Promise<boolean> {
    return false
  }

  async userRefs(): Promise<UserRefs> {
    const isUsers = (ref: string): boolean => /^refs\/(heads|tags)\/(?!oneshot\/)/.test(ref)
    return { refs: new Map([...this.#git.refs].filter(([ref]) => isUsers(ref))), stashes: [] }
  }

  listLocks(): readonly [] {
    return []
  }

  readTrace(): readonly [] {
    return []
  }

  removeTrace(): void {}

  async backUpRefs(_cwd: string, name: string, refs: ReadonlyMap<string, string>): Promise<void> {
    for (const [ref, id] of refs) this.#git.refs.set(`refs/oneshot-loop/work/${name}/${ref.replace(/^refs\//, '')}`, id)
  }

  async hasChangedCheckout(): Promise<boolean> {
    return false
  }

  async backUpCommit(_cwd: string, name: string, commit: string): Promise<void> {
    this.#git.refs.set(`refs/oneshot-loop/work/${name}`, commit)
  }

  async backUpFiles(_cwd: string, name: string, files: readonly TreeFile[]): Promise<string> {
    const texts = files.map(({ path, entry }) => [path, this.#git.blob(entry.split(' ')[1] ?? '') ?? ''] as const)
    const tree = this.#git.writeTree(new Map(texts))
    this.#git.refs.set(`refs/oneshot-loop/work/${name}/${tree}`, tree)
    return tree
  }

  async repair(_cwd: string, worktree: Worktree, commit: string): Promise<'folder' | 'branch' | null> {
    const hasBranch = this.#git.refs.has(`refs/heads/${worktree.branch}`)
    const hasFolder = this.#git.checkouts.has(worktree.path)
    if (hasBranch && hasFolder) return null
    if (!hasBranch) this.#git.refs.set(`refs/heads/${worktree.branch}`, commit)
    if (!hasFolder) this.#checkOut(worktree)
    return hasFolder ? 'branch' : 'folder'
  }

  async relink(): Promise<void> {}

  async branchTip(_cwd: string, branch: string): Promise<string | null> {
    return this.#git.refs.get(`refs/heads/${branch}`) ?? null
  }

  async log(cwd: string, limit: number): Promise<readonly { id: string; subject: string }[]> {
    const commits = this.#git.ancestry(this.#git.head(cwd)).slice(0, limit)
    return commits.map(({ id, message }) => ({ id, subject: message.split('\n')[0] ?? '' }))
  }

  async open(_cwd: string, worktree: Worktree, from: string): Promise<void> {
    const ref = `refs/heads/${worktree.branch}`
    if (!this.#git.refs.has(ref)) this.#git.refs.set(ref, this.#git.findCommit(from)?.id ?? from)
    if (!this.#git.checkouts.has(worktree.path)) this.#checkOut(worktree)
  }

  async commitAll(
    { path, branch }: Worktree,
    message: string,
    excludedPaths: readonly string[],
    base: string,
    verifiedSnapshot?: Snapshot,
  ): Promise<string> {
    const checkout = this.#git.checkout(path)
    const head = this.#git.head(path)
    invariant(head !== null, `${branch} has no commit`)
    const files = new Map(this.#git.filesOf(verifiedSnapshot?.tree ?? '') ?? checkout.files)
    const original = this.#git.filesOf(this.#git.mergeBase(base, head) ?? base) ?? NO_FILES
    for (const file of excludedPaths) setOrDelete(files, file, original.get(file))
    if (checkout.mergeHead === null && this.#diff(this.#git.filesOf(head) ?? NO_FILES, files).length === 0) return head
    const parents = checkout.mergeHead === null ? [head] : [head, checkout.mergeHead]
    const id = this.#git.createCommit(files, parents, message)
    this.#git.refs.set(`refs/heads/${branch}`, id)
    checkout.mergeHead = null
    return id
  }

  async merge(worktree: Worktree, branch: string, message: string, onto?: string): Promise<MergeResult> {
    const head = this.#git.head(worktree.path)
    const theirs = this.#git.findCommit(branch)?.id
    invariant(head !== null && theirs !== undefined, `there is nothing to merge from ${branch}`)
    if (onto !== undefined && head !== onto) return { kind: 'moved' }
    if (this.#git.contains(head, theirs)) return { kind: 'merged', commit: head }
    const { files, conflicts } = this.#git.mergeFiles(head, theirs)
    if (conflicts.length > 0) return { kind: 'conflict', files: conflicts }
    const commit = this.#git.createCommit(files, [head, theirs], message)
    this.#git.refs.set(`refs/heads/${worktree.branch}`, commit)
    this.#git.checkout(worktree.path).files = files
    return { kind: 'merged', commit }
  }

  async startMerge(worktree: Worktree, branch: string): Promise<readonly string[]> {
    const checkout = this.#git.checkout(worktree.path)
    const head = this.#git.head(worktree.path)
    const theirs = this.#git.findCommit(branch)?.id
    invariant(head !== null && theirs !== undefined, `there is nothing to merge from ${branch}`)
    if (checkout.mergeHead !== null || this.#git.contains(head, theirs))
      return this.findConflictMarkers(worktree.path, [...checkout.files.keys()])
    const { files, conflicts } = this.#git.mergeFiles(head, theirs)
    checkout.files = files
    checkout.mergeHead = theirs
    return conflicts
  }

  async commitPaths(worktree: Worktree, paths: readonly string[], message: string, onto?: string): Promise<string> {
    const head = this.#git.head(worktree.path)
    invariant(head !== null, `${worktree.branch} has no commit`)
    if (onto !== undefined && head !== onto)
      throw new Trouble(`committing to ${worktree.branch}`, 'another process moved it')
    const files = new Map(this.#git.filesOf(head) ?? [])
    for (const file of paths) setOrDelete(files, file, this.#git.checkout(worktree.path).files.get(file))
    if (this.#diff(this.#git.filesOf(head) ?? NO_FILES, files).length === 0) return head
    const id = this.#git.createCommit(files, [head], message)
    this.#git.refs.set(`refs/heads/${worktree.branch}`, id)
    return id
  }

  async remove(cwd: string, worktree: Worktree, into: string): Promise<RemoveResult> {
    const ref = `refs/heads/${worktree.branch}`
    const tip = this.#git.refs.get(ref)
    const target = into === 'HEAD' ? this.#git.head(cwd) : into
    if (tip !== undefined && !this.#git.contains(target, tip))
      return { kind: 'kept', reason: `${worktree.branch} has commits that are not in ${into}` }
    const checkout = this.#git.checkouts.get(worktree.path)
    const isDirty =
      checkout !== undefined && this.#diff(this.#git.filesOf(tip ?? '') ?? NO_FILES, checkout.files).length > 0
    if (isDirty) return { kind: 'kept', reason: 'it has files that are not committed', isDirty }
    this.#git.checkouts.delete(worktree.path)
    this.#git.refs.delete(ref)
    return { kind: 'gone' }
  }

  async reset(worktree: Worktree, commit: string): Promise<void> {
    const id = this.#git.findCommit(commit)?.id ?? commit
    const head = this.#git.head(worktree.path)
    const { files } = this.#git.checkout(worktree.path)
    const isDirty = this.#diff(this.#git.filesOf(head ?? '') ?? NO_FILES, files).length > 0
    const kept = `refs/oneshot-loop/kept/${worktree.branch.replaceAll('/', '+')}`
    if (isDirty) this.#git.refs.set(kept, this.#git.createCommit(files, head === null ? [] : [head], 'kept'))
    else if (head !== null && !this.#git.contains(id, head)) this.#git.refs.set(kept, head)
    this.#git.refs.set(`refs/heads/${worktree.branch}`, id)
    this.#checkOut(worktree)
  }

  async land(
    cwd: string,
    branch: string,
    message: string,
    { isDry = false, list }: { isSquash?: boolean; isDry?: boolean; list?: LandedList } = {},
  ): Promise<{ commit: string; isForward: boolean }> {
    const checkout = this.#git.checkout(cwd)
    const head = this.#git.head(cwd)
    const theirs = this.#git.findCommit(branch)?.id
    invariant(head !== null && theirs !== undefined, `there is nothing to land from ${branch}`)
    const isForward = this.#git.contains(theirs, head)
    const { files, conflicts } = this.#git.mergeFiles(head, theirs)
    const old = this.#git.filesOf(head) ?? NO_FILES
    const loose = new Set(this.#diff(old, checkout.files).map(({ path }) => path))
    const blocking = this.#diff(old, files).find(({ path }) => loose.has(path))
    const open = conflicts.filter(file => file !== list?.file)
    if (open.length > 0 || blocking !== undefined)
      throw new Trouble(`landing ${branch}`, `${open[0] ?? blocking?.path} is in the way`, { mayHelpToRetry: false })
    const commit = isForward ? theirs : this.#git.createCommit(files, [head, theirs], message)
    if (isDry) return { commit, isForward }
    this.#git.refs.set(`refs/heads/${checkout.branch}`, commit)
    for (const { path } of this.#diff(old, files)) setOrDelete(checkout.files, path, files.get(path))
    return { commit, isForward }
  }

  #checkOut({ path, branch }: Worktree): void {
    const files = new Map(this.#git.filesOf(branch) ?? [])
    this.#git.checkouts.set(path, { branch, files, mergeHead: null })
  }

  #diff(before: Files, after: Files): FileChange[] {
    const entry = (text: string | undefined): string | null => (text === undefined ? null : this.#git.entry(text))
    return [...new Set([...before.keys(), ...after.keys()])]
      .filter(file => before.get(file) !== after.get(file))
      .toSorted()
      .map(file => ({ path: file, before: entry(before.get(file)), after: entry(after.get(file)) }))
  }
}

function setOrDelete(files: Map<string, string>, file: string, text: string | undefined): void {
  if (text === undefined) files.delete(file)
  else files.set(file, text)
}

function lines(text: string | undefined): string[] {
  return text === undefined || text === '' ? [] : text.replace(/\n$/, '').split('\n')
}
