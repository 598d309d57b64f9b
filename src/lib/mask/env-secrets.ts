/** Names that are given to secrets. */
const SECRET = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$|_(?:PASS|PWD|PAT|AUTH)$/i
/** A key's file is named like its key. */
const PLACE = /^(?:~|\.{0,2})\/[\w.@+-]+(?:\/[\w.@+-]+)+$/
/** What is shorter is no secret but every other word. */
const SHORTEST = 8
/** More would only slow down what has none. */
const MOST = 200

/** The secrets of an environment, in each of the ways they may be written in text, line by line. */
export function secretsIn(env: Readonly<Record<string, string>>): string[] {
  const values = Object.entries(env).flatMap(([name, value]) => (SECRET.test(name) ? [value] : []))
  const written = values.filter(value => !isPlace(value)).flatMap(waysToWrite)
  return [...new Set(written.filter(text => text.length >= SHORTEST))].slice(0, MOST)
}

/** Secrets in base64 have slashes, too, but no folder that everybody has. */
function isPlace(value: string): boolean {
  return (
    PLACE.test(value) && /^(?:[~.]|\/(?:bin|etc|home|mnt|nix|opt|private|root|run|srv|tmp|Users|usr|var)\/)/.test(value)
  )
}

function waysToWrite(value: string): string[] {
  const lines = value.split(/\r?\n/).map(line => line.trim())
  return [...lines, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)]
}
