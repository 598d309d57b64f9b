import type { Loop, LoopTask } from '../../core/loop/loop-state.ts'
import { formatFew, type LostWork } from '../../core/loop/lost-work/lost-work.ts'
import { restoreDeletedCommand } from '../../core/loop/lost-work/restore-command.ts'
import { formatCommandLine } from '../../lib/text/shell-words.ts'
import { displayPath } from '../../lib/text/raw-path.ts'
import type { Head, Worktrees } from '../../ports/worktrees.ts'
import type { Audit } from './detect-lost-work.ts'

/** The changes of an iteration to the user's checkout. */
interface CheckoutChange {
  readonly outsideChanges: string | null
  readonly losses: readonly LostWork[]
  /** Sentences about settings and committed files. */
  readonly notes: readonly string[]
}

/**
 * Watches the user's checkout while agents work in other worktrees. The user may commit and edit there at any time;
 * the trace of an agent's git commands shows what the agent did. The watch reports some things regardless of who did
 * them: missing files, a HEAD that moved without a checkout, and settings that make git ignore the checkout.
 */
export class CheckoutWatch {
  readonly #worktrees: Worktrees
  readonly #audit: Audit
  readonly #cwd: string
  readonly #top: string
  #head: Head | null = null
  /** The HEAD that the files were checked out from, while HEAD names another branch. */
  #source: Head | null = null
  #files: ReadonlyMap<string, string> | null = null
  #deletedFiles: ReadonlySet<string> | null = null
  #hindrances: ReadonlySet<string> | null = null

  constructor(given: { worktrees: Worktrees; audit: Audit; cwd: string; top: string }) {
    this.#worktrees = given.worktrees
    this.#audit = given.audit
    this.#cwd = given.cwd
    this.#top = given.top
  }

  /** Reads the state before an iteration; only the first call has an effect. */
  async start(loop: Loop): Promise<void> {
    this.#head ??= await this.#worktrees.head(this.#cwd)
    this.#files ??= await this.#fileStamps(loop)
    this.#deletedFiles ??= new Set(await this.#readDeleted(this.#head.commit))
    this.#hindrances ??= new Set((await this.#worktrees.hindrances(this.#cwd)).map(({ what }) => what))
  }

  /** Compares the state after an iteration. `trace`: the file with the agent's git commands. */
  async inspect(loop: Loop, task: LoopTask, trace: string | null): Promise<CheckoutChange> {
    const before = this.#head
    const now = await this.#worktrees.head(this.#cwd)
    this.#head = now
    const isMoved = before !== null && (before.commit !== now.commit || before.branch !== now.branch)
    const isAgent = isMoved && trace !== null && (await this.#worktrees.hasChangedCheckout(this.#cwd, trace))
    const pointed =
      before === null || before.branch === now.branch
        ? null
        : await this.#describePointedHead(task, before, now, isAgent)
    const outsideChanges = pointed ?? (isAgent ? describeMove(task, before, now) : null)
    const notes = [...(await this.#describeHindrances(task)), ...(await this.#describeDeleted(task, now))]
    return { outsideChanges, losses: await this.#findMissing(loop), notes }
  }

  async #describePointedHead({ item }: LoopTask, before: Head, now: Head, isAgent: boolean): Promise<string | null> {
    const isPointed = await this.#worktrees.wasPointed(this.#cwd, before, now.branch)
    const source = this.#source ?? before
    const isBack = source.branch === now.branch
    this.#source = isPointed && !isBack ? source : null
    if (!isPointed || isBack || source.branch === null) return null
    const to = `to ${now.branch ?? 'no branch'} instead of ${source.branch}, without a checkout`
    const what = isAgent
      ? `the agent of task ${item.label} left its worktree and pointed HEAD of your checkout ${to}`
      : `somebody pointed HEAD of your checkout ${to}, while an agent worked on task ${item.label}`
    const cure = formatCommandLine(['git', 'symbolic-ref', 'HEAD', `refs/heads/${source.branch}`])
    return `${what}; your files are still those of ${source.branch}: \`${cure}\` brings it back`
  }

  async #describeHindrances({ item }: LoopTask): Promise<string[]> {
    const known = this.#hindrances
    const now = await this.#worktrees.hindrances(this.#cwd)
    this.#hindrances = new Set(now.map(({ what }) => what))
    const fresh = known === null ? [] : now.filter(({ what }) => !known.has(what))
    return fresh.map(
      ({ what, cure }) =>
        `git does not use your checkout any more, because somebody set ${what} while an agent worked on task ${item.label}: \`${cure}\` brings it back`,
    )
  }

  async #readDeleted(commit: string | null): Promise<readonly string[]> {
    return commit === null ? [] : this.#worktrees.deleted(this.#cwd, commit)
  }

  async #describeDeleted({ item }: LoopTask, { commit }: Head): Promise<string[]> {
    const known = this.#deletedFiles
    const source = this.#source?.commit ?? commit
    const now = await this.#readDeleted(source)
    this.#deletedFiles = new Set(now)
    const paths = known === null ? [] : now.filter(path => !known.has(path))
    if (paths.length === 0 || source === null) return []
    const elsewhere = await this.#findMovedPaths(source, paths)
    const lost = paths.filter(path => !elsewhere.has(path))
    if (lost.length === 0) return []
    const what = `${formatFew(lost.map(displayPath))} ${lost.length === 1 ? 'is' : 'are'} gone from your checkout`
    const cure = restoreDeletedCommand(source, lost, this.#cwd === this.#top)
    return [`${what}, since the agent of task ${item.label} worked; \`${cure}\` brings them back`]
  }

  /** git sees no files in a checkout that it ignores. */
  async #findMovedPaths(source: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
    if (this.#isHindered) return new Set()
    const { tree } = await this.#worktrees.snapshot(this.#cwd)
    return this.#worktrees.findMovedPaths(this.#cwd, [source, tree], paths)
  }

  get #isHindered(): boolean {
    return (this.#hindrances?.size ?? 0) > 0
  }

  async #findMissing(loop: Loop): Promise<readonly LostWork[]> {
    if (this.#isHindered) return []
    const before = this.#files
    const now = await this.#fileStamps(loop)
    this.#files = now
    // The watch has reported earlier losses: they are not the work of this agent.
    const changed =
      before === null ? [] : [...now].flatMap(([file, stamp]) => (before.get(file) === stamp ? [] : [file]))
    if (changed.length === 0 || loop.userChanges === undefined) return []
    const { tree } = await this.#worktrees.snapshot(this.#cwd)
    return (await this.#audit.auditUserFiles(loop, tree, new Set(changed))).losses
  }

  async #fileStamps(loop: Loop): Promise<ReadonlyMap<string, string>> {
    const files = await this.#audit.userFiles(loop)
    return this.#worktrees.fileStamps(
      this.#top,
      files.map(({ path }) => path),
    )
  }
}

function describeMove({ item }: LoopTask, before: Head, now: Head): string {
  const who = `the agent of task ${item.label}`
  if (before.branch !== now.branch && before.branch !== null)
    return `${who} left its worktree and checked out ${now.branch ?? 'no branch'} instead of ${before.branch} in your checkout: ${formatCommandLine(['git', 'checkout', before.branch])} brings it back`
  const [from, to] = [before.commit?.slice(0, 10), now.commit?.slice(0, 10)]
  return `${who} left its worktree and moved ${now.branch ?? 'HEAD'} in your checkout from ${from} to ${to}: git reset --keep ${from} brings it back`
}
