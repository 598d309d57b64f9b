import fs from 'node:fs'
import path from 'node:path'
import { Trouble } from '../../../../lib/errors.ts'
import { readPart, replaceFile } from '../../../../os/files/file-io.ts'
import { findGitFolder } from '../../guard/git-folder.ts'
import type { RepositoryContext } from '../../repository-context.ts'
import { percentDecode } from './credentials.ts'

/** Bytes; a longer configuration is not used at all. */
const MAX_CONFIG_SIZE = 1_048_576
/** Where the addresses of a place's remotes are noted down, as they were at its first checkpoint. */
const REMOTES_FILE = 'remotes.json'

/**
 * Where a remote of the repository at this top is, as another machine can name it; null when that is not told there. Read from
 * its configuration itself: it is asked for too often to start git for it.
 */
export function remoteUrl(top: string, remote: string): string | null {
  const url = readRemoteUrls(top)[remote]
  return url === undefined ? null : absoluteUrl(top, url)
}

function absoluteUrl(top: string, url: string): string {
  return /^\.{0,2}\//.test(url) ? path.resolve(top, url) : url
}

/** Notes the addresses down once, before anybody has worked there: a push goes to those, whatever is configured later. */
export function recordRemotes({ repository, folder }: RepositoryContext): void {
  const file = path.join(folder, REMOTES_FILE)
  if (fs.existsSync(file)) return
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  replaceFile(file, JSON.stringify(readRemoteUrls(repository.top, true)))
}

/** The address to push to, as it was at the beginning: whatever works there could have added a remote since. */
export function pushUrl({ repository, folder }: RepositoryContext, remote: string): string {
  const { top } = repository
  const url = (readRecordedUrls(folder) ?? readRemoteUrls(top, true))[remote]
  return absoluteUrl(
    top,
    url ?? requireUrl(remote, `pushing to ${remote}`, `there was no git remote ${remote} when the session began`),
  )
}

/** The address to fetch from, as it is now. */
export function fetchUrl(top: string, remote: string): string {
  return (
    remoteUrl(top, remote) ??
    absoluteUrl(top, requireUrl(remote, `fetching from ${remote}`, `there is no git remote ${remote}`))
  )
}

/** A word that names no remote is no address either: git would take it for a folder of the working tree. */
function requireUrl(remote: string, doing: string, otherwise: string): string {
  if (/[/:]/.test(remote)) return remote
  throw new Trouble(doing, otherwise, { mayHelpToRetry: false })
}

/** Whether an address leads into this folder, where others may write what git runs and reads at the other end. */
export function isInside(folder: string, url: string): boolean {
  const file = /^file:\/\//i.test(url) ? percentDecode(url.slice('file://'.length).replace(/^[^/]*/, '')) : url
  if (/^[^/]*:/.test(file)) return false
  const place = path.resolve(folder, file)
  return [place, realPath(place)].some(one => `${one}/`.startsWith(`${folder}/`))
}

function realPath(place: string): string {
  return fs.existsSync(place) ? fs.realpathSync(place) : place
}

/** Null where nothing was noted down: an earlier version has begun the session, or another machine. */
function readRecordedUrls(folder: string): Readonly<Record<string, string>> | null {
  try {
    return JSON.parse(fs.readFileSync(path.join(folder, REMOTES_FILE), 'utf8')) as Record<string, string>
  } catch {
    return null
  }
}

/** By the names of remotes. `isForPush`: another address may be named for that. */
function readRemoteUrls(top: string, isForPush = false): Readonly<Record<string, string>> {
  try {
    const folder = findGitFolder(top)
    return folder === null
      ? {}
      : parseRemoteUrls(readPart(path.join(folder.shared, 'config'), 0, MAX_CONFIG_SIZE).toString(), isForPush)
  } catch {
    return {} // It is gone, or looks otherwise: its name is told instead.
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
