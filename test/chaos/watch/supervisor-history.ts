import fs from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { callApi } from '../../../bench/product/api.ts'
import type { DaemonView } from '../../../src/api/contract/responses.ts'
import type { Home } from '../../../src/state/home.ts'
import { identifyProcess, checkLiveness, type ProcessId } from '../../../src/os/process/processes.ts'
import { steadyNow } from '../agent/journal.ts'
import type { Findings } from '../checks/findings.ts'

/**
 * Milliseconds between two requests while a supervisor answers, to leave the machine to the work; less while none does.
 */
const ASK_EVERY = 60
const ASK_AGAIN = 15

/** Asks continuously who is in charge, and records who answered when. */
export class SupervisorHistory {
  /** First and last answer of each supervisor. */
  readonly heard: { readonly pid: number; readonly epoch: number; readonly from: number; to: number }[] = []
  readonly #home: Home
  readonly #findings: Findings
  #isOver = false
  #asking: Promise<void> = Promise.resolve()

  constructor(home: Home, findings: Findings) {
    this.#home = home
    this.#findings = findings
  }

  start(): void {
    this.#asking = this.#ask()
  }

  async close(): Promise<void> {
    this.#isOver = true
    await this.#asking
  }

  /** Returns the process that took charge last, whether it answers or not. */
  holder(): ProcessId | undefined {
    return processIn(`${this.#home.lock}.pid`)
  }

  keeper(): ProcessId | undefined {
    return processIn(this.#home.keeperPid)
  }

  /**
   * Returns the milliseconds from a kill to the first answer of another supervisor; undefined if none has answered yet.
   */
  recoveredAfter(pid: number, killedAt: number): number | undefined {
    const next = this.heard.find(one => one.pid !== pid && one.to > killedAt)
    return next === undefined ? undefined : Math.max(next.from, killedAt) - killedAt
  }

  async #ask(): Promise<void> {
    while (!this.#isOver) {
      const asked = steadyNow()
      const answer = await Promise.race([this.#about(), pause(1_000)])
      if (answer) this.#note(answer, asked)
      await pause(answer ? ASK_EVERY : ASK_AGAIN)
    }
  }

  async #about(): Promise<DaemonView | undefined> {
    try {
      return await callApi<DaemonView>(this.#home.daemonSocket, { method: 'GET', path: '/v1/daemon' })
    } catch {
      return undefined // No supervisor answers now: this class measures that.
    }
  }

  #note({ pid, epoch }: DaemonView, asked: number): void {
    const now = steadyNow()
    const last = this.heard.at(-1)
    if (last?.pid === pid && last.epoch === epoch) last.to = now
    else this.heard.push({ pid, epoch, from: now, to: now })
    if (last !== undefined && epoch < last.epoch && asked > last.to)
      this.#findings.add(
        'one supervisor',
        `epoch ${epoch} (pid ${pid}) answers after epoch ${last.epoch} (pid ${last.pid})`,
      )
  }
}

function processIn(file: string): ProcessId | undefined {
  try {
    const found = identifyProcess(Number(fs.readFileSync(file, 'utf8')))
    return found !== undefined && checkLiveness(found) === 'alive' ? found : undefined
  } catch {
    return undefined // No supervisor has written the file yet.
  }
}
