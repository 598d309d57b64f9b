import { Mask } from '../../../../lib/mask/mask.ts'
import { redactSecrets } from '../../../../lib/secret.ts'
import { percentDecode } from '../../guard/is-address-inside-folder.ts'

type Setting = readonly [key: string, value: string]

/**
 * The settings for an address, without a secret in any argument list: git passes the address itself to its helpers
 * there.
 */
export interface RemoteAccess {
  /** The address, without user name and password if git gets these in another way. */
  readonly url: string
  readonly settings: readonly Setting[]
  readonly env: Readonly<Record<string, string>>
  /** Error messages must not contain these. */
  readonly secrets: readonly string[]
}

/** Scheme, login, host, rest. The last @ before the path ends the login, because a password may contain an @. */
const URL_WITH_LOGIN = /^(https?):\/\/([^/?#]*)@([^/?#@]*)(.*)$/is
/** The addresses of other helpers may name a profile, which is no secret. */
const URL_WITH_PASSWORD = /:\/\/[^/?#:]*:[^/?#]*@/
/** The name of a query parameter: `?private_token=…`. */
const SECRET_PARAMETER = /token|key|secret|pass|pwd|auth|sig|cred|jwt/i
/** The shell that git starts reads the values from its environment, which only its user can read. */
const CREDENTIAL_HELPER = `!f() { test "$1" = get && printf 'username=%s\\npassword=%s\\n' "$ONESHOT_GIT_USERNAME" "$ONESHOT_GIT_PASSWORD"; }; f`
/** Shorter secrets are parts of ordinary words. */
const MIN_SECRET_LENGTH = 6

/** Returns null for an address whose password or token git would show to everybody. */
export function parseAccess(address: string): RemoteAccess | null {
  const [, scheme = '', login, host = '', rest = ''] = URL_WITH_LOGIN.exec(address) ?? []
  if (login === undefined) {
    return URL_WITH_PASSWORD.test(address) || containsSecret(address)
      ? null
      : { url: address, settings: [], env: {}, secrets: [] }
  }
  if (containsSecret(rest)) return null
  const colon = login.indexOf(':')
  const username = percentDecode(colon < 0 ? login : login.slice(0, colon))
  const password = colon < 0 ? null : percentDecode(login.slice(colon + 1))
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a line end would be a line of its own for git
  if (/[\u0000-\u001f]/.test(`${username}${password ?? ''}`)) return null
  const origin = `${scheme.toLowerCase()}://${host}`
  const url = `${origin}${rest}`
  const secrets = [password ?? username, login].filter(text => text.length >= MIN_SECRET_LENGTH)
  if (password === null) return { url, settings: [[`credential.${origin}.username`, username]], env: {}, secrets }
  // The empty value removes the helpers that git would ask first.
  const settings = ['', CREDENTIAL_HELPER].map((helper): Setting => [`credential.${origin}.helper`, helper])
  return { url, settings, env: { ONESHOT_GIT_USERNAME: username, ONESHOT_GIT_PASSWORD: password }, secrets }
}

/** Returns true if the part contains a token, for example in a query: git can pass that only as an argument. */
function containsSecret(part: string): boolean {
  const parameters = part.split(/[?&#;]/).slice(1)
  const isNamed = parameters.some(one => one.includes('=') && SECRET_PARAMETER.test(one.slice(0, one.indexOf('='))))
  return isNamed || new Mask().maskText(part) !== part
}

export function maskSecrets(text: string, { secrets }: RemoteAccess): string {
  return redactSecrets(text, secrets)
}

/** Applies the user's own `url.BASE.insteadOf` and, for a push, `pushInsteadOf`. */
export function rewriteUrl(url: string, settings: readonly Setting[], isPush: boolean): string {
  const replaced = (name: 'insteadof' | 'pushinsteadof'): string | null => {
    const bases = settings.flatMap(([key, start]) => {
      const base = key.startsWith('url.') && key.endsWith(`.${name}`) ? key.slice(4, -name.length - 1) : null
      return base !== null && start !== '' && url.startsWith(start) ? [{ base, start }] : []
    })
    const longest = bases.reduce<(typeof bases)[number] | null>(
      (best, one) => (best === null || one.start.length > best.start.length ? one : best),
      null,
    )
    return longest === null ? null : `${longest.base}${url.slice(longest.start.length)}`
  }
  return (isPush ? replaced('pushinsteadof') : null) ?? replaced('insteadof') ?? url
}

/**
 * Prevents git from rewriting an address again: git uses the longest matching prefix, and none is longer than the whole
 * address.
 */
export function preventRewrite(url: string): Setting[] {
  return [
    [`url.${url}.insteadOf`, url],
    [`url.${url}.pushInsteadOf`, url],
  ]
}
