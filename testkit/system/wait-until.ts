import { setTimeout as pause } from 'node:timers/promises'

/** Waits until the condition holds. Fails with `what` after the limit. */
export async function waitUntil(what: string, isSo: () => boolean | Promise<boolean>, limit = 20_000): Promise<void> {
  const begun = Date.now()
  while (!(await isSo())) {
    if (Date.now() - begun > limit) throw new Error(`waited ${limit} ms in vain until ${what}`)
    await pause(10)
  }
}
