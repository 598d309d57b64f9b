import { toWellFormed } from '../text/lossless-utf8.ts'

/** Names of secrets, and their suffixes: `API_KEY_2`, `SECRET_KEY_BASE`, `TOKEN_PROD`. */
const SECRET = new RegExp(
  String.raw`(?:(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)|_(?:PASS|PWD|PAT|AUTH|JWT|COOKIE))` +
    String.raw`(?:_(?:\d{1,3}|BASE|BASE64|DEV|LIVE|PROD|PRODUCTION|STAGING|TEST|VALUE))?$`,
  'i',
)
/** An address with a password, as databases have it. */
const LOGIN = /^[a-z][a-z0-9+.-]{0,20}:\/\/[^/?#\s:]{0,200}:([^/?#\s]{1,300})@/i
/** The file of a key often has the name of the key. */
const FILE_PATH = /^(?:~|\.{0,2})\/[\w.@+-]+(?:\/[\w.@+-]+)+$/
/** A shorter value is an ordinary word. */
const MIN_LENGTH = 8
/** More secrets would only slow down the search in texts without any. */
const MAX_SECRETS = 200

/** Returns the secrets of an environment in each of their written forms, line by line. */
export function findEnvSecrets(env: Readonly<Record<string, string>>): string[] {
  const written = secretValues(env).flatMap(writtenForms)
  return [...new Set(written.filter(text => text.length >= MIN_LENGTH))].slice(0, MAX_SECRETS)
}

/** Returns the same, and the base64 forms, for data that must not leave this machine in any file. */
export function findEnvSecretsWithBase64(env: Readonly<Record<string, string>>): string[] {
  const encoded = secretValues(env)
    .filter(value => value.length >= MIN_LENGTH)
    .flatMap(base64Forms)
  return [...findEnvSecrets(env), ...new Set(encoded.slice(0, MAX_SECRETS))]
}

function secretValues(env: Readonly<Record<string, string>>): string[] {
  const values = Object.entries(env).flatMap(([name, value]) => [
    ...(SECRET.test(name) ? [value] : []),
    ...(LOGIN.exec(value)?.slice(1) ?? []),
  ])
  return values.filter(value => !isFilePath(value))
}

/**
 * Returns the forms of a value inside the base64 of any text: the value starts at one of three offsets. The forms leave
 * out the characters at both ends, which depend on the neighbouring text.
 */
function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value)
  const written = [0, 1, 2].map(offset => {
    const whole = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/={1,2}$/, '')
    const isOpen = (offset + bytes.length) % 3 !== 0
    return whole.slice(offset === 0 ? 0 : offset + 1, isOpen ? -1 : undefined)
  })
  return written.flatMap(text => [text, text.replaceAll('+', '-').replaceAll('/', '_')])
}

/** Secrets in base64 contain slashes, too, but none of the common root folders. */
function isFilePath(value: string): boolean {
  return (
    FILE_PATH.test(value) &&
    /^(?:[~.]|\/(?:bin|etc|home|mnt|nix|opt|private|root|run|srv|tmp|Users|usr|var)\/)/.test(value)
  )
}

function writtenForms(value: string): string[] {
  const lines = value.split(/\r?\n/).map(line => line.trim())
  return [...lines, JSON.stringify(value).slice(1, -1), encodeURIComponent(toWellFormed(value))]
}
