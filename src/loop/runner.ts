import { decideLoop } from '../core/loop/decide.ts'
import { type LoopEffect, effectsOf, loopDueAt, effectsToStart } from '../core/loop/effects.ts'
import type { Loop } from '../core/loop/loop.ts'
import type { LoopSignal } from '../core/loop/signals.ts'
import type { Duration } from '../lib/time.ts'
import type { Clock } from '../ports/clock.ts'
import { Trouble, errorMessage } from '../lib/errors.ts'
import type { EffectRun, LoopContext } from './context.ts'
import { performEffect, reportFailure } from './effects/perform.ts'

/** An effect gets this many tries, with a doubled delay after each. */
const MAX_TRIES = 6
const FIRST_RETRY_DELAY: Duration = 250
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
  readonly #running = new Map<string, AbortController>()
  #loop: Loop
  #cancelTimer: () => void = () => undefined
  #isStopped = false
  #resolve: (loop: Loop) => void = () => undefined
  #reject: (cause: unknown) => void = () => undefined

  constructor(context: LoopContext, loop: Loop, hooks: RunnerHooks) {
    this.#context = context
    this.#loop = loop
    this.#hooks = hooks
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
    if (this.#isStopped) return
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
    if (this.#isStopped) return
    const effects = effectsOf(this.#loop)
    const wanted = new Set(effects.map(({ key }) => key))
    for (const [key, controller] of this.#running) if (!wanted.has(key)) controller.abort()
    for (const effect of effectsToStart(effects, new Set(this.#running.keys()))) this.#start(effect)
    this.#setTimer()
    if (this.#loop.stage.name === 'ended' && this.#running.size === 0) this.#resolve(this.#loop)
  }

  #start(effect: LoopEffect): void {
    const calledOff = new AbortController()
    this.#running.set(effect.key, calledOff)
    const report: EffectRun['report'] = signal => {
      if (!calledOff.signal.aborted) this.#handle({ ...signal, at: this.#context.clock.now() })
    }
    const run: EffectRun = { context: this.#context, loop: () => this.#loop, report, ending: calledOff.signal }
    void performWithRetry(effect, run).then(
      () => this.#finish(effect),
      cause => {
        if (calledOff.signal.aborted) this.#finish(effect)
        else this.#reject(cause)
      },
    )
  }

  #finish({ key }: LoopEffect): void {
    this.#running.delete(key)
    this.#reconcile()
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
    this.#isStopped = true
    this.#cancelTimer()
    for (const controller of this.#running.values()) controller.abort()
    this.#resolve(this.#loop)
  }
}

/** Performs an effect and retries it after trouble; reports a permanent failure. */
async function performWithRetry(effect: LoopEffect, run: EffectRun): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await performEffect(effect, run)
      return
    } catch (cause) {
      if (run.ending.aborted) return
      if (!(cause instanceof Trouble)) throw cause
      if (attempt === MAX_TRIES || !cause.mayHelpToRetry) return reportFailure(effect, run, errorMessage(cause))
      await pause(run.context.clock, FIRST_RETRY_DELAY * 2 ** (attempt - 1), run.ending)
      if (run.ending.aborted) return
    }
  }
}

/** Resolves after this duration, or as soon as the signal aborts. */
function pause(clock: Clock, duration: Duration, ending: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const finish = (): void => {
      cancel()
      ending.removeEventListener('abort', finish)
      resolve()
    }
    const cancel = clock.schedule(clock.now() + duration, finish)
    ending.addEventListener('abort', finish, { once: true })
  })
}
