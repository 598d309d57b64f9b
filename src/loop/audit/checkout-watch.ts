import fs from 'node:fs'
import type { Loop, LoopTask } from '../../core/loop/loop.ts'
import { few, type Loss } from '../../core/loop/losses.ts'
import { restoreDeleted } from '../../core/loop/restore-command.ts'
import { below, rawPath, shown } from '../../lib/raw-path.ts'
import type { Head, Workshop } from '../../ports/workshop.ts'
import type { Audit } from './audit.ts'

/** What an iteration did to the user's checkout. */
interface Seen {
  readonly strayed: string | null
  readonly losses: readonly Loss[]
  /** Committed files that are gone, as a sentence; null for none. */
  readonly deleted: string | null
}

/**
 * Watches the user's checkout while agents work in worktrees beside it. Its user may commit and edit there at any time; what an agent
 * did is told by the git commands of that agent, and files are missed whoever has removed them: those that were not committed, and whatever
 * of the last commit is gone from the top of the checkout.
 */
export class CheckoutWatch {
  readonly #workshop: Workshop
  readonly #audit: Audit
  readonly #cwd: string
  readonly #top: string
  #head: Head | null = null
  #files: ReadonlyMap<string, string> | null = null
  #names: ReadonlySet<string> | null = null

  constructor(given: { workshop: Workshop; audit: Audit; cwd: string; top: string }) {
    this.#workshop = given.workshop
    this.#audit = given.audit
    this.#cwd = given.cwd
    this.#top = given.top
  }

  /** Looks before an iteration; only the first time counts. */
  async begin(loop: Loop): Promise<void> {
    this.#head ??= await this.#workshop.head(this.#cwd)
    this.#files ??= await this.#stats(loop)
    this.#names ??= this.#namesNow()
  }

  /** Looks after an iteration. `trace`: where the git commands of its agent are written down. */
  async look(loop: Loop, task: LoopTask, trace: string | null): Promise<Seen> {
    const before = this.#head
    const now = await this.#workshop.head(this.#cwd)
    this.#head = now
    const isMoved = before !== null && (before.commit !== now.commit || before.branch !== now.branch)
    const isAgent = isMoved && trace !== null && (await this.#workshop.hasTouched(this.#cwd, trace))
    const deleted = await this.#deleted(task)
    return { strayed: isAgent ? moved(task, before, now) : null, losses: await this.#missing(loop), deleted }
  }

  /** Git is asked only where a name is missing at the top. */
  async #deleted({ item }: LoopTask): Promise<string | null> {
    const [before, now] = [this.#names, this.#namesNow()]
    this.#names = now
    const missing = new Set([...(before ?? [])].filter(name => !now.has(name)))
    if (missing.size === 0) return null
    const pair = ['HEAD', (await this.#workshop.snapshot(this.#cwd)).tree] as const
    const [changes] = await this.#workshop.changes(this.#cwd, [pair])
    const gone = (changes ?? []).filter(({ path, after }) => after === null && missing.has(path.split('/')[0] ?? ''))
    const paths = gone.map(({ path }) => path)
    const elsewhere = paths.length === 0 ? new Set() : await this.#workshop.moved(this.#cwd, pair, paths)
    const lost = paths.filter(path => !elsewhere.has(path))
    if (lost.length === 0) return null
    const what = `${few(lost.map(shown))} ${lost.length === 1 ? 'is' : 'are'} gone from your checkout`
    return `${what}, since the agent of task ${item.label} worked; \`${restoreDeleted(lost, this.#cwd === this.#top)}\` brings them back`
  }

  /** Names at the top of the checkout, each byte as one character. */
  #namesNow(): ReadonlySet<string> {
    try {
      return new Set(fs.readdirSync(this.#top, { encoding: 'buffer' }).map(rawPath))
    } catch {
      return new Set() // The checkout is gone, and that is told elsewhere.
    }
  }

  async #missing(loop: Loop): Promise<readonly Loss[]> {
    const before = this.#files
    const now = await this.#stats(loop)
    this.#files = now
    const isSame = before === null || [...now].every(([file, stat]) => before.get(file) === stat)
    if (isSame || loop.yours === undefined) return []
    const { tree } = await this.#workshop.snapshot(this.#cwd)
    return (await this.#audit.yours(loop, tree)).losses
  }

  async #stats(loop: Loop): Promise<ReadonlyMap<string, string>> {
    const files = await this.#audit.filesOfYours(loop)
    return new Map(
      files.map(({ path }) => {
        const stat = fs.lstatSync(below(this.#top, path), { throwIfNoEntry: false })
        return [path, stat === undefined ? '' : `${stat.mtimeMs} ${stat.size} ${stat.ino}`]
      }),
    )
  }
}

function moved({ item }: LoopTask, before: Head, now: Head): string {
  const who = `the agent of task ${item.label}`
  if (before.branch !== now.branch && before.branch !== null)
    return `${who} left its worktree and checked out ${now.branch ?? 'no branch'} instead of ${before.branch} in your checkout: git checkout ${before.branch} brings it back`
  const [from, to] = [before.commit?.slice(0, 10), now.commit?.slice(0, 10)]
  return `${who} left its worktree and moved ${now.branch ?? 'HEAD'} in your checkout from ${from} to ${to}: git reset --keep ${from} brings it back`
}
