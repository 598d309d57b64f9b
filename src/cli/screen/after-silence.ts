import type { Screen } from './screen.ts'

/** Whoever has waited this long in silence wonders, in milliseconds. */
const SILENCE = 1_000

/** Tells a person what is waited for, once that takes a while. */
export async function afterSilence<T>(text: string, { err, isQuiet }: Screen, deed: Promise<T>): Promise<T> {
  if (isQuiet || !err.isTerminal) return deed
  const timer = setTimeout(() => err.say(text), SILENCE)
  return deed.finally(() => clearTimeout(timer))
}
