import { setTimeout as pause } from 'node:timers/promises'
import { type Client, connect } from '../../../src/api/client.ts'
import { Refusal } from '../../../src/lib/errors.ts'
import { run } from '../../../src/os/run.ts'
import { between, type RandomSource } from '../../../testkit/system/seeded-random.ts'
import type { ChaosEnvironment } from '../environment/chaos-environment.ts'

/** Refusals after which a user retries: no supervisor answers, or nothing can be written at the moment. */
const TRANSIENT_CODES = new Set(['daemon-unreachable', 'daemon-refused', 'disk-full', 'world-failed', 'home-unusable'])
/** Milliseconds: a supervisor that is killed half of the time still answers in the other half. */
const PATIENCE = 120_000
const GRACE_PERIOD = 1_500

/** A user who retries until there is an answer, and after a while starts a supervisor, as every command does. */
export class User {
  /** Counts each refusal. */
  readonly refusals = new Map<string, number>()
  starts = 0
  readonly #environment: ChaosEnvironment
  readonly #roll: RandomSource
  #started: { readonly at: number; readonly command: Promise<void> } | undefined

  constructor(environment: ChaosEnvironment, random: RandomSource) {
    this.#environment = environment
    this.#roll = random
  }

  async ask<T>(action: (client: Client) => Promise<T>): Promise<T> {
    const end = performance.now() + PATIENCE
    let startAt = performance.now() + between(this.#roll, 0, 3_000)
    for (;;) {
      try {
        return await action(connect(this.#environment.home.daemonSocket))
      } catch (cause) {
        this.#note(cause)
        if (!(cause instanceof Refusal) || !TRANSIENT_CODES.has(cause.code) || performance.now() > end) throw cause
        if (cause.code === 'daemon-unreachable' && performance.now() > startAt) {
          startAt = performance.now() + between(this.#roll, 1_000, 3_000)
          await this.startDaemon()
        }
        await pause(40)
      }
    }
  }

  /** Starts a supervisor, as every command does when none answers. Concurrent callers share one start. */
  async startDaemon(): Promise<void> {
    const now = performance.now()
    if (this.#started === undefined || now - this.#started.at > GRACE_PERIOD)
      this.#started = { at: now, command: this.oneshot('daemon', 'start').then(() => undefined) }
    else return this.#started.command
    this.starts++
    await this.#started.command
  }

  async oneshot(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const { main, env, project } = this.#environment
    return run(process.execPath, [main, ...args], { env, cwd: project, timeout: 60_000 })
  }

  #note(cause: unknown): void {
    const code = cause instanceof Refusal ? cause.code : String(cause)
    this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1)
  }
}
