import fs from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { SessionId } from '../../../src/core/session/session-id-and-name.ts'
import { readSession } from '../../../src/views/read-session.ts'
import { readSessions } from '../../../testkit/views/stored-sessions.ts'
import type { Home } from '../../../src/state/home.ts'
import type { Findings } from '../checks/findings.ts'

const LOOK_EVERY = 500
/** Milliseconds that a dead agent may be shown as running, although readers check the process themselves. */
const A_MOMENT = 1_500

/**
 * Checks from time to time that `list` shows the truth: no dead agent as running, no living process of an ended
 * session.
 */
export class ViewChecker {
  looks = 0
  readonly #home: Home
  readonly #findings: Findings
  readonly #doubts = new Map<string, number>()
  #isOver = false
  #looking: Promise<void> = Promise.resolve()

  constructor(home: Home, findings: Findings) {
    this.#home = home
    this.#findings = findings
  }

  start(): void {
    this.#looking = this.#look()
  }

  async close(): Promise<void> {
    this.#isOver = true
    await this.#looking
  }

  async #look(): Promise<void> {
    while (!this.#isOver) {
      this.#sample()
      await pause(LOOK_EVERY)
    }
  }

  #sample(): void {
    this.looks++
    const views = readSessions(this.#home)
    const marked = markedProcesses()
    for (const view of views) {
      const { name, id, phase, pid } = view
      const isWrong = phase === 'running' && pid !== null && !isThere(pid)
      if (this.#lasts(`${id} ${pid}`, isWrong))
        this.#findings.add('shown', `${name}: shown as running with pid ${pid}, which is dead`)
      const left = phase === 'ended' ? (marked.get(id) ?? []) : []
      if (left.length > 0 && this.#hasStayed(id))
        this.#findings.add('orphans', `${name}: has ended, and ${left.join(', ')} still live`)
    }
  }

  /** Checks again: a message may have woken the session meanwhile. */
  #hasStayed(id: SessionId): boolean {
    return readSession(this.#home, id)?.phase === 'ended'
  }

  #lasts(doubt: string, isThere: boolean): boolean {
    if (!isThere) {
      this.#doubts.delete(doubt)
      return false
    }
    const since = this.#doubts.get(doubt) ?? performance.now()
    this.#doubts.set(doubt, since)
    return performance.now() - since > A_MOMENT
  }
}

/** Returns the processes of each session, by the marker in their environment. */
function markedProcesses(): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const pid of fs.readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    const marker = /(?:^|\0)ONESHOT_ATTEMPT=([^.\0]+)\./.exec(read(`/proc/${pid}/environ`))?.[1]
    if (marker === undefined || !isThere(Number(pid))) continue
    const command = read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').slice(0, 60)
    found.set(marker, [...(found.get(marker) ?? []), `${pid} (${command})`])
  }
  return found
}

function isThere(pid: number): boolean {
  const stat = read(`/proc/${pid}/stat`)
  return stat !== '' && !/\) [ZX] /.test(stat)
}

function read(file: string): string {
  try {
    return fs.readFileSync(file, 'latin1')
  } catch {
    return '' // The process has ended meanwhile.
  }
}
