import type { Checkpoint } from '../core/checkpoint.ts'
import type { Session } from '../core/session.ts'
import type { Signal } from '../core/signals.ts'
import type { Kept } from '../ports/checkpoints.ts'
import { Prover } from './prover.ts'
import { Pusher } from './pusher.ts'
import { type Restored, restore, type Whither } from './restore.ts'
import { Safekeeper } from './safekeeper.ts'
import { situationOf } from './situation.ts'
import { TaskKeeper } from './task-keeper.ts'
import type { World } from './world.ts'

/** All who keep something of the work beside it: its files, here and on a remote, and what is still to be done. */
export class Keepers {
  readonly #world: World
  readonly #safekeeper: Safekeeper
  readonly #pusher: Pusher
  readonly #tasks: TaskKeeper
  readonly #prover: Prover

  constructor(world: World, report: (sessionId: string, signal: Signal) => Promise<void>) {
    this.#world = world
    this.#tasks = new TaskKeeper(world, report)
    this.#pusher = new Pusher(world, report)
    this.#safekeeper = new Safekeeper(world, report, (session, trigger) => this.#tasks.attend(session, trigger))
    this.#prover = new Prover(world, report, id => this.#safekeeper.now(id, 'end'))
  }

  /** Takes up what a supervisor before us did not live to do. */
  start(): void {
    for (const session of this.#world.store.all()) this.#keep(session)
    this.#tasks.start()
  }

  /** Told of each session as it is now, as often as it changes. */
  follow(session: Session): void {
    this.#keep(session)
    this.#tasks.follow(session)
  }

  /** Saves what is there before an agent begins. */
  before(session: Session): Promise<Signal[]> {
    return this.#safekeeper.before(session)
  }

  /** What git shows of a session's work. Where it cannot be told, whoever takes it over looks themselves. */
  situation(session: Session): Promise<string> {
    return situationOf(session, this.#world.checkpoints).catch(() => '')
  }

  /** Saves its working tree now; the newest checkpoint, and whether it is new. Throws `Unkept` or `Trouble`. */
  saveNow(id: string): Promise<Kept> {
    return this.#safekeeper.now(id, 'asked')
  }

  /** Brings a checkpoint back. Throws `Unkept` or `Trouble`. */
  restore(session: Session, checkpoint: Checkpoint, whither: Whither): Promise<Restored> {
    const { checkpoints, store } = this.#world
    store.assertEpoch()
    return restore(session, checkpoint, whither, { safekeeper: this.#safekeeper, checkpoints })
  }

  /** Saves what is still wanted of a session that is about to be removed. */
  settle(id: string): Promise<void> {
    return this.#safekeeper.settle(id)
  }

  /** Removes all that was kept of it in git. */
  forget(session: Session): Promise<void> {
    return this.#safekeeper.forget(session)
  }

  async stop(): Promise<void> {
    await Promise.all([this.#safekeeper.stop(), this.#pusher.stop(), this.#tasks.stop(), this.#prover.stop()])
  }

  #keep(session: Session): void {
    this.#safekeeper.follow(session)
    this.#pusher.follow(session)
    this.#prover.follow(session)
  }
}
