export const HIDDEN = '‹hidden›'

/** The method that Node calls to print a value. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom')

/** A value that must not be shown: every way to print it prints a placeholder. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** Returns the value, for its use only and never for display. */
  reveal(): string {
    return this.#value
  }

  toString(): string {
    return HIDDEN
  }

  toJSON(): string {
    return HIDDEN
  }

  [INSPECT](): string {
    return HIDDEN
  }
}

/** Hides every secret in the text, also in its forms in an address. */
export function redactSecrets(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap(secret => [secret, encodeURIComponent(secret), encodeURI(secret)])
  // The longest form comes first, so that no rest of a longer one stays. A form below four characters is an ordinary
  // word.
  const worth = [...new Set(forms)].filter(form => form.length >= 4).sort((a, b) => b.length - a.length)
  return worth.reduce((redacted, form) => redacted.replaceAll(form, HIDDEN), text)
}
