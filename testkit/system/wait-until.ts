import { setTimeout as pause } from 'node:timers/promises'

/** Waits until this is so, and fails with its name when it does not come true. */
export async function waitUntil(what: string, isSo: () => boolean | Promise<boolean>, limit = 20_000): Promise<void> {
  const begun = Date.now()
  while (!(await isSo())) {
    if (Date.now() - begun > limit) throw new Error(`waited ${limit} ms in vain until ${what}`)
    await pause(10)
  }
}
