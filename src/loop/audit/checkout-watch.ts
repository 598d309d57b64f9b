import fs from 'node:fs'
import type { Loop, LoopTask } from '../../core/loop/loop.ts'
import type { Loss } from '../../core/loop/losses.ts'
import { below } from '../../lib/raw-path.ts'
import type { Head, Workshop } from '../../ports/workshop.ts'
import type { Audit } from './audit.ts'

/** What an iteration did to the user's checkout. */
interface Seen {
  readonly strayed: string | null
  readonly losses: readonly Loss[]
}

/**
 * Watches the user's checkout while agents work in worktrees beside it. Its user may commit and edit there at any time; what an agent
 * did is told by the git commands of that agent, and files that were not committed are missed whoever has removed them.
 */
export class CheckoutWatch {
  readonly #workshop: Workshop
  readonly #audit: Audit
  readonly #cwd: string
  readonly #top: string
  #head: Head | null = null
  #files: ReadonlyMap<string, string> | null = null

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
  }

  /** Looks after an iteration. `trace`: where the git commands of its agent are written down. */
  async look(loop: Loop, task: LoopTask, trace: string | null): Promise<Seen> {
    const before = this.#head
    const now = await this.#workshop.head(this.#cwd)
    this.#head = now
    const isMoved = before !== null && (before.commit !== now.commit || before.branch !== now.branch)
    const isAgent = isMoved && trace !== null && (await this.#workshop.hasTouched(this.#cwd, trace))
    return { strayed: isAgent ? moved(task, before, now) : null, losses: await this.#missing(loop) }
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
