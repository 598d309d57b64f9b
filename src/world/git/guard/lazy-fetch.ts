import crypto from 'node:crypto'
import { rewriteUrl } from '../checkpoint/remote/credentials.ts'
import type { ConfigSetting } from './config-settings.ts'
import { isConnectionSetting, isPromisorSetting, isTransferProgram, isUrlRewrite } from './dangerous-settings.ts'
import { absoluteAddress, type AddressBase, isInside } from './is-address-inside-folder.ts'

/**
 * Describes how git would fetch objects that a partial clone lacks. An agent can remove an object and write the configuration: git
 * would then send data to any address, or run a program in a repository that the agent made.
 */
export interface LazyFetch {
  /** Identifies the repository's settings that decide where git fetches, and by which means. */
  readonly fingerprint: string
  /** The addresses of all promisor remotes. */
  readonly urls: readonly string[]
  readonly base: AddressBase
  /** A setting of the repository that rules out a fetch; null if there is none. */
  readonly obstacle: string | null
}

/** The fingerprint of a repository that is no partial clone. */
export const NO_PROMISORS = 'none'

/** Returns null if the repository is no partial clone. */
export function describeLazyFetch(all: readonly ConfigSetting[], base: AddressBase): LazyFetch | null {
  const remotes = promisorRemotes(all)
  if (remotes.size === 0) return null
  const own = all.filter(({ isUserScope }) => !isUserScope)
  const users = all.filter(({ isUserScope }) => isUserScope)
  const rewrites = users.map(({ key, value }) => [key, value] as const)
  const addresses = [...remotes].map(remote => all.filter(({ key }) => key === `remote.${remote}.url`))
  return {
    fingerprint: fingerprintOf(own, remotes, base.cwd),
    urls: addresses.flat().map(({ value }) => rewriteUrl(value, rewrites, false)),
    base,
    obstacle:
      findObstacle(own, users) ?? (addresses.some(urls => urls.length === 0) ? 'a promisor remote without url' : null),
  }
}

/**
 * Returns the reason that git must not fetch missing objects; null if it may. `recorded`: the fingerprint of the start,
 * before any agent could change the configuration.
 */
export function explainNoLazyFetch({ fingerprint, urls, base, obstacle }: LazyFetch, recorded: string): string | null {
  if (obstacle !== null) return `git must not fetch missing objects, because .git/config has ${obstacle}`
  if (fingerprint !== recorded)
    return 'git must not fetch missing objects, because .git/config names another promisor remote or other connection settings than at the start'
  return urls.some(url => isInside(url, base))
    ? 'git must not fetch missing objects from a repository inside the working tree'
    : null
}

function promisorRemotes(all: readonly ConfigSetting[]): ReadonlySet<string> {
  return new Set(
    all.flatMap(({ key, value }) => {
      if (!isPromisorSetting(key)) return []
      return key === 'extensions.partialclone' ? value : splitRemoteKey(key).remote
    }),
  )
}

/** The name of a remote may contain dots. */
function splitRemoteKey(key: string): { remote: string; name: string } {
  const end = key.lastIndexOf('.')
  return { remote: key.slice('remote.'.length, end), name: key.slice(end + 1) }
}

/** git fetches missing objects without these, and users change them. */
const HARMLESS_NAMES = new Set(
  'fetch push pushurl tagopt mirror prune prunetags skipdefaultupdate skipfetchall followremotehead'.split(' '),
)

/** A hash, because values may contain passwords. */
function fingerprintOf(own: readonly ConfigSetting[], remotes: ReadonlySet<string>, cwd: string): string {
  const lines = own.flatMap(({ key, value }) => {
    if (isConnectionSetting(key) || key === 'extensions.partialclone') return [[key, value]]
    if (!key.startsWith('remote.')) return []
    const { remote, name } = splitRemoteKey(key)
    if (!remotes.has(remote) || HARMLESS_NAMES.has(name)) return []
    return [[key, name === 'url' ? absoluteAddress(value, cwd) : value]]
  })
  return crypto.createHash('sha256').update(JSON.stringify(lines)).digest('hex')
}

function findObstacle(own: readonly ConfigSetting[], users: readonly ConfigSetting[]): string | null {
  const isUsers = ({ key, value }: ConfigSetting): boolean =>
    users.some(other => other.key === key && other.value === value)
  const found = own.find(setting => isTransferSetting(setting.key) && !isUsers(setting))
  return found?.key ?? null
}

function isTransferSetting(key: string): boolean {
  return isTransferProgram(key) || isUrlRewrite(key)
}
