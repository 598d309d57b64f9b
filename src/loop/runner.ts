import { setTimeout as pause } from 'node:timers/promises'
import { decideLoop } from '../core/loop/decide.ts'
import { type LoopEffect, effectsOf, loopDueAt, effectsToStart } from '../core/loop/effects.ts'
import type { Loop } from '../core/loop/loop.ts'
import type { LoopSignal } from '../core/loop/signals.ts'
import type { Duration } from '../lib/time.ts'
import { Trouble, errorMessage } from '../lib/errors.ts'
import type { EffectRun, LoopContext } from './context.ts'
import { reportFailure } from './effects/perform.ts'
import { performEffect } from './effects/perform.ts'

/** The world gets this many chances, each after twice the time. */
const MAX_TRIES = 6
const FIRST_RETRY_DELAY: Duration = 250

interface RunnerHooks {
  /** Called before anything is done about it. */
  readonly record: (loop: Loop) => void
  readonly onChange: (before: Loop, after: Loop) => void
}

/**
 * Carries a loop from what it sees to what it does: each signal is decided upon, written down, and then whatever follows is begun that is not
 * under way, and called off that is not wanted any more. What it does is nothing but what follows from what is written down.
 */
export class LoopRunner {
  readonly #context: LoopContext
  readonly #hooks: RunnerHooks
  readonly #running = new Map<string, AbortController>()
  #loop: Loop
  #timer: NodeJS.Timeout | undefined
  #isStopped = false
  #resolve: (loop: Loop) => void = () => undefined
  #reject: (cause: unknown) => void = () => undefined

  constructor(context: LoopContext, loop: Loop, hooks: RunnerHooks) {
    this.#context = context
    this.#loop = loop
    this.#hooks = hooks
  }

  /** Resolves when the loop has ended and nothing is left to do, or `ending` comes. Rejects when we ourselves are at fault. */
  async run(first: readonly LoopSignal[], ending: AbortSignal): Promise<Loop> {
    const over = new Promise<Loop>((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    const leave = (): void => this.#stop()
    ending.addEventListener('abort', leave, { once: true })
    // A loop that had ended is over again only if it still is after all of them.
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

  /** Decides and writes it down; false when nothing follows. */
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
      if (!calledOff.signal.aborted) this.#handle({ ...signal, at: this.#context.now() })
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
    clearTimeout(this.#timer)
    const now = this.#context.now()
    const due = loopDueAt(this.#loop, now)
    if (due === null) return
    this.#timer = setTimeout(
      () => this.#handle({ type: 'clock.due', at: this.#context.now() }),
      Math.max(10, due - now),
    )
  }

  #stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    for (const controller of this.#running.values()) controller.abort()
    this.#resolve(this.#loop)
  }
}

/** Does it, again when the world fails us; when it continues failing, says so. */
async function performWithRetry(effect: LoopEffect, run: EffectRun): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await performEffect(effect, run)
      return
    } catch (cause) {
      if (run.ending.aborted) return
      if (!(cause instanceof Trouble)) throw cause
      if (attempt === MAX_TRIES || !cause.mayHelpToRetry) return reportFailure(effect, run, errorMessage(cause))
      await pause(FIRST_RETRY_DELAY * 2 ** (attempt - 1), undefined, { signal: run.ending })
    }
  }
}
