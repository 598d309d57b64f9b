/** An operation on the outside world failed. Drivers throw it; the engine turns it into a signal. */
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

/** Throws at once if an impossible state occurs. */
export function invariant(fact: unknown, sentence: string): asserts fact {
  if (!fact) throw new Error(`this cannot be: ${sentence}`)
}

export function errorMessage(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  return isQuotaExceeded(cause) ? cause.message.replace(UNNAMED_ERROR, 'EDQUOT: disk quota exceeded') : cause.message
}

/** Node's words for an error without a name. */
const UNNAMED_ERROR = /^(?:UNKNOWN: unknown error|Unknown system error -\d+: Unknown system error -\d+)/

/** EDQUOT of Linux and of macOS, for which Node 20 has no name. */
const QUOTA_EXCEEDED = [-122, -69]

function isQuotaExceeded(cause: Error): boolean {
  return 'errno' in cause && QUOTA_EXCEEDED.includes(Number(cause.errno))
}

/** Returns the reason of a failure without the operation, for callers that name the operation themselves. */
export function rootReason(cause: unknown): string {
  return cause instanceof Trouble && cause.cause !== undefined ? rootReason(cause.cause) : errorMessage(cause)
}

/**
 * Returns true if the disk is full, or the user's quota is used up. SQLite reports a failed write beside its database
 * as an I/O error.
 */
export function isDiskFull(cause: unknown): boolean {
  if (hasCode(cause, 'ENOSPC')) return true
  if (cause instanceof Error && isQuotaExceeded(cause)) return true
  return /ENOSPC|system error -122|disk is full|disk I\/O error/.test(errorMessage(cause))
}

export function hasCode(cause: unknown, ...codes: string[]): boolean {
  return cause instanceof Error && 'code' in cause && codes.includes(String(cause.code))
}

/** The codes of a start of a program that is not on PATH. One folder of PATH that is unreadable makes it EACCES. */
export const NOT_FOUND = ['ENOENT', 'EACCES'] as const

/**
 * oneshot understood a request and refuses it: a code from the catalogue, a sentence and a hint, never a stack trace.
 */
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

/** Also recognises a refusal from another bundle of ours, which has its own class. */
export function isRefusal(cause: unknown): cause is Refusal {
  return cause instanceof Error && cause.name === 'Refusal'
}
