import { type Checkpoint, EMPTY_DIFF } from '../../src/core/checkpoint/checkpoint.ts'
import { invariant, Trouble } from '../../src/lib/errors.ts'
import type { Checkpoints, SavedSession, CheckpointTarget, CheckpointRequest } from '../../src/ports/checkpoints.ts'

interface StoredCheckpoint {
  readonly checkpoint: Checkpoint
  readonly tree: string
  readonly record: string
}

/** A repository whose working tree is one text. It outlives every supervisor. */
export class InMemoryRepository {
  tree = ''
  readonly checkpoints = new Map<string, StoredCheckpoint[]>()
  /** Full messages of the checkpoints, by session. */
  readonly messages = new Map<string, readonly string[]>()
  /** Number of the last pushed checkpoint, by session. */
  readonly pushed = new Map<string, number>()
  /** While set, saving and pushing fail for this reason. */
  trouble: string | null = null
  pushTrouble: string | null = null
  /** While set, each save waits for it, as git does in a large repository. */
  duringSave: (() => Promise<void>) | null = null

  of(sessionId: string): readonly StoredCheckpoint[] {
    return this.checkpoints.get(sessionId) ?? []
  }
}

/** Implements checkpoints on a simulated machine. */
export class InMemoryCheckpoints implements Checkpoints {
  readonly #machine: { readonly repository: InMemoryRepository | null }

  constructor(machine: { readonly repository: InMemoryRepository | null }) {
    this.#machine = machine
  }

  isRepository(): boolean {
    return this.#machine.repository !== null
  }

  worktreeRoot(): string | null {
    return this.#machine.repository === null ? null : '/'
  }

  async save({ sessionId }: CheckpointTarget, request: CheckpointRequest): ReturnType<Checkpoints['save']> {
    const { trigger, attempt, at, record } = request
    const repository = this.#repository
    await repository.duringSave?.()
    if (repository.trouble !== null) throw new Trouble('making a checkpoint', repository.trouble)
    if (request.goal !== undefined) repository.messages.set(sessionId, request.goal)
    const before = repository.of(sessionId)
    const { tree } = repository
    const last = before.at(-1)
    const isSame = last?.tree === tree
    const isRecordNews = request.isRecordNews && last?.record !== record
    if (isSame && !isRecordNews) return { checkpoint: last.checkpoint, isNew: false }
    const number = before.length + 1
    const change = isSame ? EMPTY_DIFF : { files: 1, added: 1, removed: 0 }
    const checkpoint = { number, commit: `c${number}`, at, trigger, attempt, head: 'head', change, leftOut: [] }
    repository.checkpoints.set(sessionId, [...before, { checkpoint, tree, record }])
    return { checkpoint, isNew: true }
  }

  async list({ sessionId }: CheckpointTarget): Promise<Checkpoint[]> {
    return this.#repository.of(sessionId).map(({ checkpoint }) => checkpoint)
  }

  async readRecord(target: CheckpointTarget, commit: string): Promise<string> {
    return this.#find(target, commit).record
  }

  async prune(): Promise<number> {
    return 0
  }

  async push({ sessionId }: CheckpointTarget): Promise<null> {
    const { pushTrouble, pushed } = this.#repository
    if (pushTrouble !== null) throw new Trouble('pushing', pushTrouble)
    pushed.set(sessionId, this.#repository.of(sessionId).length)
    return null
  }

  async diff(target: CheckpointTarget, from: string, to: string): Promise<string> {
    return `-${this.#find(target, from).tree}\n+${this.#find(target, to).tree}\n`
  }

  async diffStat(): Promise<Checkpoint['change']> {
    return { files: 1, added: 1, removed: 0 }
  }

  async compareWorktree(
    target: CheckpointTarget,
    since: Checkpoint | null,
  ): ReturnType<Checkpoints['compareWorktree']> {
    const isSame = since === null || this.#find(target, since.commit).tree === this.#repository.tree
    return { change: { files: isSame ? 0 : 1, added: 0, removed: 0 }, head: 'head' }
  }

  async restoreToBranch(): Promise<readonly string[]> {
    throw new Error('there is no second place in this repository')
  }

  async restoreInPlace(target: CheckpointTarget, { commit }: Checkpoint): Promise<readonly string[]> {
    this.#repository.tree = this.#find(target, commit).tree
    return []
  }

  async findSessions(): Promise<SavedSession[]> {
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

  async readMessages({ sessionId }: CheckpointTarget): ReturnType<Checkpoints['readMessages']> {
    return this.#repository.messages.get(sessionId) ?? null
  }

  async switchToNewBranch(): Promise<void> {
    throw new Error('there is only one branch')
  }

  async commitSubjects(): Promise<string[]> {
    return []
  }

  async removeAll({ sessionId }: CheckpointTarget): Promise<void> {
    this.#repository.checkpoints.delete(sessionId)
  }

  get #repository(): InMemoryRepository {
    invariant(this.#machine.repository !== null, 'a machine without a repository was asked to keep something')
    return this.#machine.repository
  }

  #find({ sessionId }: CheckpointTarget, commit: string): StoredCheckpoint {
    const kept = this.#repository.of(sessionId).find(({ checkpoint }) => checkpoint.commit === commit)
    invariant(kept !== undefined, `there is no checkpoint ${commit}`)
    return kept
  }
}
