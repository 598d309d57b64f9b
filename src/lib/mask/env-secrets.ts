import { toWellFormed } from '../text/lossless-utf8.ts'

/** Names that are given to secrets, and what may stand behind them: `API_KEY_2`, `SECRET_KEY_BASE`, `TOKEN_PROD`. */
const SECRET = new RegExp(
  String.raw`(?:(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)|_(?:PASS|PWD|PAT|AUTH|JWT|COOKIE))` +
    String.raw`(?:_(?:\d{1,3}|BASE|BASE64|DEV|LIVE|PROD|PRODUCTION|STAGING|TEST|VALUE))?$`,
  'i',
)
/** An address with a password, as databases have it. */
const LOGIN = /^[a-z][a-z0-9+.-]{0,20}:\/\/[^/?#\s]{0,200}?:([^/?#\s]{1,300})@/i
/** A key's file is named like its key. */
const FILE_PATH = /^(?:~|\.{0,2})\/[\w.@+-]+(?:\/[\w.@+-]+)+$/
/** What is shorter is no secret but every other word. */
const MIN_LENGTH = 8
/** More would only slow down what has none. */
const MAX_SECRETS = 200

/** The secrets of an environment, in each of the ways they may be written in text, line by line. */
export function findEnvSecrets(env: Readonly<Record<string, string>>): string[] {
  const written = secretValues(env).flatMap(writtenForms)
  return [...new Set(written.filter(text => text.length >= MIN_LENGTH))].slice(0, MAX_SECRETS)
}

/** The same, and in base64: of those that must not leave this machine in any file. */
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
 * As it stands in the base64 of any text that holds it, whatever comes before: a third of the texts begins at each of three
 * places. Without the characters at both ends, which depend on what is beside it.
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

/** Secrets in base64 have slashes, too, but no folder that everybody has. */
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
