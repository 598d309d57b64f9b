import type { Duration } from '../../lib/time.ts'

/** A configuration key as data. Validation, help, completion and the reference are made from it. */
export interface Key<T> {
  readonly variable: string
  readonly fallback: T
  readonly summary: string
  /** Ends the sentence "it must be …". */
  readonly allowed: string
  readonly choices?: readonly string[]
  /** Not to be set by a project's file: whoever clones it has not chosen it. */
  readonly isPersonal?: boolean
  /**
   * What counts where a project's file sets it as well: whoever clones a project has not chosen its file, so it may only
   * take rights and limits away. Without this the project's value counts.
   */
  readonly withProject?: (own: T, project: T) => T
  /** Undefined when the text is not allowed. */
  readonly read: (text: string) => T | undefined
  /** The value as it would be written in a file. */
  readonly show: (value: T) => string
}

/** A duration as one would write it. */
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

/** The lesser of two limits; null means none. */
export function smallerLimit(userLimit: number | null, projectLimit: number | null): number | null {
  if (userLimit === null || projectLimit === null) return userLimit ?? projectLimit
  return Math.min(userLimit, projectLimit)
}
