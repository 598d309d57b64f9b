import { setTimeout as pause } from 'node:timers/promises'

/** Polls until there is an answer. */
export async function waitUntil<T>(
  what: string,
  ask: () => Promise<T | undefined> | T | undefined,
  { patience = 30_000, every = 20 } = {},
): Promise<T> {
  const end = performance.now() + patience
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (performance.now() > end) throw new Error(`waited ${patience / 1000} s in vain until ${what}`)
    await pause(every)
  }
}
