import fs from 'node:fs'
import type { SessionView } from '../../src/api/contract/responses.ts'
import { childrenOf } from '../measure/proc.ts'
import type { BenchHome } from './bench-home.ts'

/** Number of parallel starts; more would only queue in the daemon. */
const STARTERS = 8
/** An agent that sleeps longer than any benchmark. */
const SLEEP = ['sleep', '100000'] as const

/** Many headless sessions that sleep. */
export class Fleet {
  readonly home: BenchHome
  readonly sessions: SessionView[] = []

  constructor(home: BenchHome) {
    this.home = home
  }

  async growTo(count: number): Promise<this> {
    let missing = count - this.sessions.length
    const start = async (): Promise<void> => {
      while (missing-- > 0) this.sessions.push(await this.#startOne())
    }
    await Promise.all(Array.from({ length: STARTERS }, start))
    return this
  }

  /** Removes a session from the fleet and returns it, for a kill. */
  take(): SessionView {
    const session = this.sessions.pop()
    if (session === undefined) throw new Error('the fleet is empty')
    return session
  }

  /** Returns the processes of oneshot, without the agents. */
  async processes(): Promise<{ daemon: number; keeper: number; tmux: number; shims: number[] }> {
    const { pid } = await this.home.daemon()
    const tmux = await this.home.tmuxServer()
    const keeper = Number(fs.readFileSync(this.home.home.keeperPid, 'utf8'))
    return { daemon: pid, keeper, tmux, shims: childrenOf(tmux) }
  }

  async #startOne(): Promise<SessionView> {
    const session = await this.home.start(SLEEP)
    if (session.phase === 'running' && session.pid !== null) return session
    throw new Error(`${session.name} is ${session.phase} instead of running: ${session.reason}`)
  }
}
