import { type Checkpoint, NO_CHANGE } from '../../core/checkpoint.ts'
import { invariant, Trouble } from '../../lib/trouble.ts'
import type { Checkpoints, Found, Keeping, Occasion } from '../../ports/checkpoints.ts'

interface Kept {
  readonly checkpoint: Checkpoint
  readonly tree: string
  readonly record: string
}

/** A repository whose working tree is one text. It outlives every supervisor. */
export class MemoryRepository {
  tree = ''
  readonly kept = new Map<string, Kept[]>()
  /** The messages that were kept whole, by session. */
  readonly goals = new Map<string, readonly string[]>()
  /** How far each remote has come, by session. */
  readonly pushed = new Map<string, number>()
  /** Saving or pushing fails for this reason, while there is one. */
  trouble: string | null = null
  pushTrouble: string | null = null

  of(sessionId: string): readonly Kept[] {
    return this.kept.get(sessionId) ?? []
  }
}

/** Checkpoints of a machine in memory. */
export class MemoryCheckpoints implements Checkpoints {
  readonly #machine: { readonly repository: MemoryRepository | null }

  constructor(machine: { readonly repository: MemoryRepository | null }) {
    this.#machine = machine
  }

  isPlace(): boolean {
    return this.#machine.repository !== null
  }

  top(): string | null {
    return this.#machine.repository === null ? null : '/'
  }

  async save({ sessionId }: Keeping, occasion: Occasion): ReturnType<Checkpoints['save']> {
    const { trigger, attempt, at, record } = occasion
    const repository = this.#repository
    if (repository.trouble !== null) throw new Trouble('making a checkpoint', repository.trouble)
    if (occasion.goal !== undefined) repository.goals.set(sessionId, occasion.goal)
    const before = repository.of(sessionId)
    const { tree } = repository
    const last = before.at(-1)
    const isSame = last?.tree === tree
    const isRecordNews = occasion.isRecordNews && last?.record !== record
    if (isSame && !isRecordNews) return { checkpoint: last.checkpoint, isNew: false }
    const number = before.length + 1
    const change = isSame ? NO_CHANGE : { files: 1, added: 1, removed: 0 }
    const checkpoint = { number, commit: `c${number}`, at, trigger, attempt, head: 'head', change, leftOut: [] }
    repository.kept.set(sessionId, [...before, { checkpoint, tree, record }])
    return { checkpoint, isNew: true }
  }

  async list({ sessionId }: Keeping): Promise<Checkpoint[]> {
    return this.#repository.of(sessionId).map(({ checkpoint }) => checkpoint)
  }

  async record(keeping: Keeping, commit: string): Promise<string> {
    return this.#find(keeping, commit).record
  }

  async thin(): Promise<number> {
    return 0
  }

  async push({ sessionId }: Keeping): Promise<null> {
    const { pushTrouble, pushed } = this.#repository
    if (pushTrouble !== null) throw new Trouble('pushing', pushTrouble)
    pushed.set(sessionId, this.#repository.of(sessionId).length)
    return null
  }

  async diff(keeping: Keeping, from: string, to: string): Promise<string> {
    return `-${this.#find(keeping, from).tree}\n+${this.#find(keeping, to).tree}\n`
  }

  async change(): Promise<Checkpoint['change']> {
    return { files: 1, added: 1, removed: 0 }
  }

  async compare(keeping: Keeping, since: Checkpoint | null): ReturnType<Checkpoints['compare']> {
    const isSame = since === null || this.#find(keeping, since.commit).tree === this.#repository.tree
    return { change: { files: isSame ? 0 : 1, added: 0, removed: 0 }, head: 'head' }
  }

  async restoreBeside(): Promise<readonly string[]> {
    throw new Error('there is no second place in this repository')
  }

  async restoreHere(keeping: Keeping, { commit }: Checkpoint): Promise<readonly string[]> {
    this.#repository.tree = this.#find(keeping, commit).tree
    return []
  }

  async find(): Promise<Found[]> {
    return []
  }

  async remotes(): Promise<string[]> {
    return []
  }

  async fetch(): ReturnType<Checkpoints['fetch']> {
    throw new Error('there is no remote')
  }

  async claim(): ReturnType<Checkpoints['claim']> {
    return async () => undefined
  }

  async goal({ sessionId }: Keeping): ReturnType<Checkpoints['goal']> {
    return this.#repository.goals.get(sessionId) ?? null
  }

  async switchTo(): Promise<void> {
    throw new Error('there is only one branch')
  }

  async commits(): Promise<string[]> {
    return []
  }

  async forget({ sessionId }: Keeping): Promise<void> {
    this.#repository.kept.delete(sessionId)
  }

  get #repository(): MemoryRepository {
    invariant(this.#machine.repository !== null, 'a machine without a repository was asked to keep something')
    return this.#machine.repository
  }

  #find({ sessionId }: Keeping, commit: string): Kept {
    const kept = this.#repository.of(sessionId).find(({ checkpoint }) => checkpoint.commit === commit)
    invariant(kept !== undefined, `there is no checkpoint ${commit}`)
    return kept
  }
}
