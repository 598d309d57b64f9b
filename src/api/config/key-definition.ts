import type { Duration } from '../../lib/time.ts'

/** A configuration key as data. Validation, help, completion and the reference use it. */
export interface Key<T> {
  readonly variable: string
  readonly fallback: T
  readonly summary: string
  /** Completes the sentence "it must be …". */
  readonly allowed: string
  readonly choices?: readonly string[]
  /** True when a project's file must not set it: a person who clones a project has not chosen its settings. */
  readonly isPersonal?: boolean
  /**
   * Combines the user's value with the project's. A person who clones a project has not chosen its file, so the file
   * may only reduce rights and limits. Without this function, the project's value wins.
   */
  readonly withProject?: (own: T, project: T) => T
  /** Returns undefined when the text is not allowed. */
  readonly read: (text: string) => T | undefined
  /** Returns the value in the syntax of a config file. */
  readonly show: (value: T) => string
}

/** Returns a duration in the syntax of a config file. */
export function showDuration(duration: Duration): string {
  if (duration % 1000 !== 0) return `${duration}ms`
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['m', 60],
    ['s', 1],
  ] as const
  let rest = duration / 1000
  let text = ''
  for (const [unit, seconds] of units) {
    const amount = Math.floor(rest / seconds)
    if (amount > 0) text += `${amount}${unit}`
    rest -= amount * seconds
  }
  return text === '' ? '0s' : text
}

/** Returns the smaller of two limits; null means no limit. */
export function smallerLimit(userLimit: number | null, projectLimit: number | null): number | null {
  if (userLimit === null || projectLimit === null) return userLimit ?? projectLimit
  return Math.min(userLimit, projectLimit)
}
