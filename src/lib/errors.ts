/** The world failed us while we were doing something. Drivers throw it; the engine turns it into a signal. */
export class Trouble extends Error {
  override readonly name = 'Trouble'
  readonly doing: string
  readonly mayHelpToRetry: boolean

  constructor(doing: string, why: unknown, options: { mayHelpToRetry?: boolean } = {}) {
    super(`${doing}: ${errorMessage(why)}`, { cause: why })
    this.doing = doing
    this.mayHelpToRetry = options.mayHelpToRetry ?? true
  }
}

/** What cannot be, is: fail at once and loudly. */
export function invariant(fact: unknown, sentence: string): asserts fact {
  if (!fact) throw new Error(`this cannot be: ${sentence}`)
}

export function errorMessage(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

/** What went wrong, without what we were doing: for whoever knows that. */
export function rootReason(cause: unknown): string {
  return cause instanceof Trouble && cause.cause !== undefined ? rootReason(cause.cause) : errorMessage(cause)
}

/** The disk has no room, or the user's quota is used up. SQLite calls a failed write beside its database an I/O error. */
export function isDiskFull(cause: unknown): boolean {
  return hasCode(cause, 'ENOSPC', 'EDQUOT') || /ENOSPC|EDQUOT|disk is full|disk I\/O error/.test(errorMessage(cause))
}

export function hasCode(cause: unknown, ...codes: string[]): boolean {
  return cause instanceof Error && 'code' in cause && codes.includes(String(cause.code))
}

/** We understood, and the answer is no: a code from the catalogue, a sentence and a hint, never a stack trace. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: string
  readonly hint: string | undefined

  constructor(code: string, message: string, hint?: string) {
    super(message)
    this.code = code
    this.hint = hint
  }
}

/** Also of one from another of our bundles, which has a class of its own for it. */
export function isRefusal(cause: unknown): cause is Refusal {
  return cause instanceof Error && cause.name === 'Refusal'
}
