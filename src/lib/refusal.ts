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
