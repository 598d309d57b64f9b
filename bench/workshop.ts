import type { NotMeasured, Peers } from './peers/install.ts'
import { Pm2 } from './peers/pm2.ts'
import { Fleet } from './product/fleet.ts'
import { House } from './product/house.ts'
import type { Stage } from './product/stage.ts'

/** What the figures share. Everything is opened on first use and closed at the end. */
export class Workshop {
  readonly stage: Stage
  readonly peers: Peers
  readonly isQuick: boolean
  readonly say: (sentence: string) => void
  /** Lost bytes, lost sessions, processes left behind. They fail the run; a slow figure does not. */
  readonly broken: string[] = []
  /** What is left out because it is not there, each as a sentence with what to do about it. */
  readonly notMeasured: string[] = []
  readonly #closers: (() => Promise<void>)[] = []
  readonly #opened = new Map<string, Promise<unknown>>()

  constructor(given: { stage: Stage; peers: Peers; isQuick: boolean; say: (sentence: string) => void }) {
    this.stage = given.stage
    this.peers = given.peers
    this.isQuick = given.isQuick
    this.say = given.say
  }

  /** As many rounds as the figure deserves, or as few as a short run can bear. */
  rounds(full: number, quick: number): number {
    return this.isQuick ? quick : full
  }

  house(name: string): Promise<House> {
    return this.#once(`house ${name}`, async () => this.keep(await new House(this.stage, name, this.say).open()))
  }

  fleet(name: string): Promise<Fleet> {
    return this.#once(`fleet ${name}`, async () => new Fleet(await this.house(name)))
  }

  async pm2(name: string): Promise<Pm2 | NotMeasured> {
    const { pm2 } = this.peers
    if (typeof pm2 !== 'string') return pm2
    return this.#once(`pm2 ${name}`, async () => this.keep(new Pm2(pm2, this.stage, name)))
  }

  /** Closes it at the end. */
  keep<T extends { close: () => Promise<void> }>(thing: T): T {
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
