import fs from 'node:fs'
import path from 'node:path'
import { mapOf, string } from '../../../../lib/codec.ts'
import { Trouble } from '../../../../lib/errors.ts'
import { readPart, replaceFile } from '../../../../os/files/file-io.ts'
import { readJsonFile } from '../../../../os/files/json-file.ts'
import { findGitFolder } from '../../guard/find-and-check-git-folder.ts'
import type { RepositoryContext } from '../../repository-context.ts'

/** Bytes; the reader ignores a longer configuration. */
const MAX_CONFIG_SIZE = 1_048_576
/** Stores the remotes' addresses as they were at the first checkpoint. */
const REMOTES_FILE = 'remotes.json'

/**
 * Returns the address of a remote as another machine can use it, or null if the configuration names none. Reads the
 * configuration file directly: callers need the address too often to start git each time.
 */
export function remoteUrl(top: string, remote: string): string | null {
  const url = readRemoteUrls(top)[remote]
  return url === undefined ? null : absoluteUrl(top, url)
}

function absoluteUrl(top: string, url: string): string {
  return /^\.{0,2}\//.test(url) ? path.resolve(top, url) : url
}

/**
 * Records the addresses once, before any agent has worked there: a push uses these, even if the configuration changes
 * later.
 */
export function recordRemotes({ repository, folder }: RepositoryContext): void {
  const file = path.join(folder, REMOTES_FILE)
  if (fs.existsSync(file)) return
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  replaceFile(file, JSON.stringify(readRemoteUrls(repository.top, true)))
}

/** Returns the address for a push as it was at the start: the agent could have added a remote since. */
export function pushUrl({ repository, folder }: RepositoryContext, remote: string): string {
  const { top } = repository
  const url = (readRecordedUrls(folder) ?? readRemoteUrls(top, true))[remote]
  return absoluteUrl(
    top,
    url ?? requireUrl(remote, `pushing to ${remote}`, `there was no git remote ${remote} when the session began`),
  )
}

/** Returns the address for a fetch as it is now. */
export function fetchUrl(top: string, remote: string): string {
  return (
    remoteUrl(top, remote) ??
    absoluteUrl(top, requireUrl(remote, `fetching from ${remote}`, `there is no git remote ${remote}`))
  )
}

/** Rejects a word that names no remote: git would take it for a folder of the working tree. */
function requireUrl(remote: string, doing: string, otherwise: string): string {
  if (/[/:]/.test(remote)) return remote
  throw new Trouble(doing, otherwise, { mayHelpToRetry: false })
}

/**
 * Returns null if an earlier version or another machine started the session, and so recorded nothing. Throws if the
 * file is damaged: the present configuration may be the agent's.
 */
function readRecordedUrls(folder: string): Readonly<Record<string, string>> | null {
  return readJsonFile(path.join(folder, REMOTES_FILE), mapOf(string), MAX_CONFIG_SIZE) ?? null
}

/** Returns the addresses by remote name. `isForPush`: `pushurl` overrides `url`. */
function readRemoteUrls(top: string, isForPush = false): Readonly<Record<string, string>> {
  try {
    const folder = findGitFolder(top)
    return folder === null
      ? {}
      : parseRemoteUrls(readPart(path.join(folder.shared, 'config'), 0, MAX_CONFIG_SIZE).toString(), isForPush)
  } catch {
    return {} // The configuration is missing or invalid: the caller uses the remote's name.
  }
}

function parseRemoteUrls(config: string, isForPush: boolean): Record<string, string> {
  const found: Record<'url' | 'pushurl', Map<string, string>> = { url: new Map(), pushurl: new Map() }
  let remote: string | null = null
  for (const line of config.split('\n').map(text => text.trim())) {
    if (line.startsWith('[')) remote = /^\[remote "(.*)"\]$/i.exec(line)?.[1]?.replaceAll(/\\(.)/g, '$1') ?? null
    const end = line.indexOf('=')
    const key = line.slice(0, Math.max(0, end)).trim().toLowerCase()
    const url = line
      .slice(end + 1)
      .trim()
      .replace(/^"/, '')
      .replace(/"$/, '')
    if (remote === null || (key !== 'url' && key !== 'pushurl')) continue
    if (!found[key].has(remote)) found[key].set(remote, url)
  }
  return Object.fromEntries([...found.url, ...(isForPush ? found.pushurl : [])])
}
