/** The world failed us while we were doing something. Drivers throw it; the engine turns it into a signal. */
export class Trouble extends Error {
  override readonly name = 'Trouble'
  readonly doing: string
  readonly mayHelpToRetry: boolean

  constructor(doing: string, why: unknown, options: { mayHelpToRetry?: boolean } = {}) {
    super(`${doing}: ${wordsOf(why)}`, { cause: why })
    this.doing = doing
    this.mayHelpToRetry = options.mayHelpToRetry ?? true
  }
}

/** What cannot be, is: fail at once and loudly. */
export function invariant(fact: unknown, sentence: string): asserts fact {
  if (!fact) throw new Error(`this cannot be: ${sentence}`)
}

export function wordsOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

/** What went wrong, without what we were doing: for whoever knows that. */
export function reasonIn(cause: unknown): string {
  return cause instanceof Trouble && cause.cause !== undefined ? reasonIn(cause.cause) : wordsOf(cause)
}

/** The disk has no room, or the user's quota is used up. SQLite calls a failed write beside its database an I/O error. */
export function isDiskFull(cause: unknown): boolean {
  return hasCode(cause, 'ENOSPC', 'EDQUOT') || /ENOSPC|EDQUOT|disk is full|disk I\/O error/.test(wordsOf(cause))
}

export function hasCode(cause: unknown, ...codes: string[]): boolean {
  return cause instanceof Error && 'code' in cause && codes.includes(String(cause.code))
}
