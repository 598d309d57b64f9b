import { setTimeout as pause } from 'node:timers/promises'
import { steadyNow } from '../agent/journal.ts'

/** Milliseconds until recovery; `never` if it did not come in time; undefined if it no longer applies. */
export type Recovery = number | 'never' | undefined

export async function measureRecovery(
  isSo: () => boolean | 'moot' | Promise<boolean | 'moot'>,
  patience = 60_000,
): Promise<Recovery> {
  const begun = steadyNow()
  for (let wait = 5; steadyNow() - begun < patience; wait = Math.min(100, wait * 1.3)) {
    const answer = await isSo()
    if (answer === 'moot') return undefined
    if (answer) return steadyNow() - begun
    await pause(wait)
  }
  return 'never'
}
