import type { NotMeasured, Peers } from './peers/install.ts'
import { Pm2 } from './peers/pm2.ts'
import { Fleet } from './product/fleet.ts'
import { BenchHome } from './product/bench-home.ts'
import type { ProductClone } from './product/clone.ts'

/** `quick`: few samples. `guard`: enough samples to notice a figure that became a fifth worse. */
export type Effort = 'full' | 'quick' | 'guard'

/** The guard takes this share of the samples of a full run. */
const GUARD_SHARE = 0.5

/** State that the figures share. It opens each part at its first use and closes all at the end. */
export class BenchContext {
  readonly clone: ProductClone
  readonly peers: Peers
  readonly effort: Effort
  readonly say: (sentence: string) => void
  /** Lost bytes, lost sessions and leftover processes. These fail the run; a slow figure does not. */
  readonly broken: string[] = []
  /** Figures that were skipped because a program is missing; each sentence says what to do about it. */
  readonly notMeasured: string[] = []
  readonly #closers: (() => Promise<void>)[] = []
  readonly #opened = new Map<string, Promise<unknown>>()

  constructor(given: { stage: ProductClone; peers: Peers; effort: Effort; say: (sentence: string) => void }) {
    this.clone = given.stage
    this.peers = given.peers
    this.effort = given.effort
    this.say = given.say
  }

  /** True if figures leave out the large cases, which take minutes. */
  get isQuick(): boolean {
    return this.effort !== 'full'
  }

  /** Returns the number of rounds for the effort of this run. */
  rounds(full: number, quick: number): number {
    if (this.effort === 'guard') return Math.max(quick, Math.ceil(full * GUARD_SHARE))
    return this.effort === 'quick' ? quick : full
  }

  home(name: string): Promise<BenchHome> {
    return this.#once(`house ${name}`, async () =>
      this.closeAtEnd(await new BenchHome(this.clone, name, this.say).open()),
    )
  }

  fleet(name: string): Promise<Fleet> {
    return this.#once(`fleet ${name}`, async () => new Fleet(await this.home(name)))
  }

  async pm2(name: string): Promise<Pm2 | NotMeasured> {
    const { pm2 } = this.peers
    if (typeof pm2 !== 'string') return pm2
    return this.#once(`pm2 ${name}`, async () => this.closeAtEnd(new Pm2(pm2, this.clone, name)))
  }

  /** Registers a part for closing at the end. */
  closeAtEnd<T extends { close: () => Promise<void> }>(thing: T): T {
    this.#closers.push(() => thing.close())
    return thing
  }

  async close(): Promise<void> {
    const closers = this.#closers.splice(0)
    await Promise.all(closers.map(close => close().catch(cause => this.broken.push(`could not clean up: ${cause}`))))
  }

  #once<T>(key: string, open: () => Promise<T>): Promise<T> {
    const opened = this.#opened.get(key) ?? open()
    this.#opened.set(key, opened)
    return opened as Promise<T>
  }
}
