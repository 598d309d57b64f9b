import { inspect } from 'node:util'

export const HIDDEN = '‹hidden›'

/** Something that must not be shown: however it is printed, it prints as hidden. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** For the one who uses it, never for one who tells of it. */
  reveal(): string {
    return this.#value
  }

  toString(): string {
    return HIDDEN
  }

  toJSON(): string {
    return HIDDEN
  }

  [inspect.custom](): string {
    return HIDDEN
  }
}

/** The text with every one of these hidden in it, also in the forms they have in an address. */
export function redactSecrets(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap(secret => [secret, encodeURIComponent(secret), encodeURI(secret)])
  // The longest first, so that no rest of a longer one stays. What is shorter than this is no secret, but every other word.
  const worth = [...new Set(forms)].filter(form => form.length >= 4).sort((a, b) => b.length - a.length)
  return worth.reduce((told, form) => told.replaceAll(form, HIDDEN), text)
}
