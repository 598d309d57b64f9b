import { Mask } from '../../../../lib/mask/mask.ts'
import { redactSecrets } from '../../../../lib/secret.ts'

type Setting = readonly [key: string, value: string]

/** How git reaches an address, with nothing secret in a list of arguments: git hands the address itself to its helpers there. */
export interface RemoteAccess {
  /** Without a name and password where git gets these in another way. */
  readonly url: string
  readonly settings: readonly Setting[]
  readonly env: Readonly<Record<string, string>>
  /** What must not be repeated in an error. */
  readonly secrets: readonly string[]
}

/** Scheme, name and password, the rest. The last @ before the path counts: a password may hold another one. */
const URL_WITH_LOGIN = /^(https?):\/\/([^/?#]*)@([^/?#@]*)(.*)$/is
/** Addresses of other helpers may name a profile, which is no secret. */
const URL_WITH_PASSWORD = /:\/\/[^/?#:]*:[^/?#]*@/
/** The name of a parameter in a query: `?private_token=…`. */
const SECRET_PARAMETER = /token|key|secret|pass|pwd|auth|sig|cred|jwt/i
/** The shell that git starts has the values in its environment, which only its user can read. */
const CREDENTIAL_HELPER = `!f() { test "$1" = get && printf 'username=%s\\npassword=%s\\n' "$ONESHOT_GIT_USERNAME" "$ONESHOT_GIT_PASSWORD"; }; f`
/** Shorter ones are parts of ordinary words. */
const MIN_SECRET_LENGTH = 6

/** Null for an address with a password or token that git would show to everybody. */
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
  // The empty one puts an end to helpers that would be asked before.
  const settings = ['', CREDENTIAL_HELPER].map((helper): Setting => [`credential.${origin}.helper`, helper])
  return { url, settings, env: { ONESHOT_GIT_USERNAME: username, ONESHOT_GIT_PASSWORD: password }, secrets }
}

/** Whether it holds a token, after a question mark for example: git has no other way to use that than an argument. */
function containsSecret(part: string): boolean {
  const parameters = part.split(/[?&#;]/).slice(1)
  const isNamed = parameters.some(one => one.includes('=') && SECRET_PARAMETER.test(one.slice(0, one.indexOf('='))))
  return isNamed || new Mask().maskText(part) !== part
}

/** As git reads a part of an address. */
export function percentDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // A sign of percent that stands for itself.
  }
}

export function maskSecrets(text: string, { secrets }: RemoteAccess): string {
  return redactSecrets(text, secrets)
}

/** Where the user's own configuration leads an address: `url.BASE.insteadOf`, and for a push `pushInsteadOf`. */
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

/** Keeps git from rewriting an address once more: the longest beginning counts, and none is longer than the whole. */
export function preventRewrite(url: string): Setting[] {
  return [
    [`url.${url}.insteadOf`, url],
    [`url.${url}.pushInsteadOf`, url],
  ]
}
