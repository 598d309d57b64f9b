import { decideLoop } from '../core/loop/decide.ts'
import { type LoopEffect, effectsOf, loopDueAt, effectsToStart } from '../core/loop/derive-effects.ts'
import type { Loop } from '../core/loop/loop-state.ts'
import type { LoopSignal } from '../core/loop/signals.ts'
import { type Job, KeyedJobs } from '../lib/keyed-jobs.ts'
import type { RetryPolicy } from '../lib/retry-policy.ts'
import type { Duration } from '../lib/time.ts'
import { Trouble, errorMessage } from '../lib/errors.ts'
import type { EffectRun, LoopContext } from './context.ts'
import { performEffect, reportFailure } from './effects/perform.ts'

const RETRY: RetryPolicy = { firstPause: 250, maxPause: 8_000, maxTries: 6 }
/** The loop is the only owner of its jobs. */
const OWNER = 'loop'
/** The timer may fire a moment early: without a pause the runner would decide again at once. */
const MIN_DELAY: Duration = 10

export interface RunnerHooks {
  /** Stores the state before any effect starts. */
  readonly record: (loop: Loop) => void
  readonly onChange: (before: Loop, after: Loop) => void
}

/**
 * Drives a loop: it decides on each signal, records the new state, then starts missing effects and aborts unwanted
 * ones. All effects follow from the recorded state.
 */
export class LoopRunner {
  readonly #context: LoopContext
  readonly #hooks: RunnerHooks
  readonly #jobs: KeyedJobs
  #loop: Loop
  #cancelTimer: () => void = () => undefined
  #resolve: (loop: Loop) => void = () => undefined
  #reject: (cause: unknown) => void = () => undefined

  constructor(context: LoopContext, loop: Loop, hooks: RunnerHooks) {
    this.#context = context
    this.#loop = loop
    this.#hooks = hooks
    this.#jobs = new KeyedJobs({
      clock: context.clock,
      onFinished: () => this.#reconcile(),
      onError: (_, cause) => this.#reject(cause),
    })
  }

  /** Resolves when the loop has ended and no effect runs, or when `ending` aborts. Rejects on a bug. */
  async run(first: readonly LoopSignal[], ending: AbortSignal): Promise<Loop> {
    const over = new Promise<Loop>((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    const leave = (): void => this.#stop()
    ending.addEventListener('abort', leave, { once: true })
    // The first signals may reopen an ended loop, so check for the end only after all of them.
    for (const signal of first) this.#decide(signal)
    this.#reconcile()
    try {
      return await over
    } finally {
      ending.removeEventListener('abort', leave)
      this.#stop()
    }
  }

  #handle(signal: LoopSignal): void {
    if (this.#jobs.stopping.aborted) return
    if (this.#decide(signal)) this.#reconcile()
    else this.#setTimer()
  }

  /** Decides and records; returns false if nothing changed. */
  #decide(signal: LoopSignal): boolean {
    const before = this.#loop
    const after = decideLoop(before, signal)
    if (after === before) return false
    this.#hooks.record(after)
    this.#loop = after
    this.#hooks.onChange(before, after)
    return true
  }

  #reconcile(): void {
    if (this.#jobs.stopping.aborted) return
    const effects = effectsOf(this.#loop)
    const running = this.#jobs.runningKeys(OWNER)
    const starting = new Set(effectsToStart(effects, running))
    const wanted = effects.filter(effect => running.has(effect.key) || starting.has(effect))
    this.#jobs.want(
      OWNER,
      wanted.map(effect => this.#jobOf(effect)),
    )
    this.#setTimer()
    const isIdle = effects.length === 0 && running.size === 0
    if (this.#loop.stage.name === 'ended' && isIdle) this.#resolve(this.#loop)
  }

  /** Retries an effect after trouble, and reports a permanent failure to the loop. */
  #jobOf(effect: LoopEffect): Job {
    return {
      key: effect.key,
      retry: RETRY,
      run: signal => performEffect(effect, this.#effectRun(signal)),
      onFailure: ({ cause, isFinal }) => {
        if (!(cause instanceof Trouble)) this.#reject(cause)
        else if (isFinal) reportFailure(effect, this.#effectRun(this.#jobs.stopping), errorMessage(cause))
      },
    }
  }

  /** An effect that was called off reports nothing more. */
  #effectRun(ending: AbortSignal): EffectRun {
    const report: EffectRun['report'] = signal => {
      if (!ending.aborted) this.#handle({ ...signal, at: this.#context.clock.now() })
    }
    return { context: this.#context, loop: () => this.#loop, report, ending }
  }

  #setTimer(): void {
    this.#cancelTimer()
    const { clock } = this.#context
    const now = clock.now()
    const due = loopDueAt(this.#loop, now)
    if (due === null) return
    const at = Math.max(now + MIN_DELAY, due)
    this.#cancelTimer = clock.schedule(at, () => this.#handle({ type: 'clock.due', at: clock.now() }))
  }

  #stop(): void {
    this.#cancelTimer()
    void this.#jobs.stop()
    this.#resolve(this.#loop)
  }
}
