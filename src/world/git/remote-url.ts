import fs from 'node:fs'
import path from 'node:path'

/**
 * Where a remote of the repository at this top is, as another machine can name it; null when that is not told there. Read from
 * its configuration itself: it is asked for too often to start git for it.
 */
export function remoteUrl(top: string, remote: string): string | null {
  try {
    const url = urlIn(fs.readFileSync(path.join(commonDir(top), 'config'), 'utf8'), remote)
    return url === null || !/^\.{0,2}\//.test(url) ? url : path.resolve(top, url)
  } catch {
    return null // It is gone, or looks otherwise: its name is told instead.
  }
}

/** A worktree's own folder names the one that it shares with the others. */
function commonDir(top: string): string {
  const git = path.join(top, '.git')
  if (fs.statSync(git).isDirectory()) return git
  const own = path.resolve(top, fs.readFileSync(git, 'utf8').replace('gitdir:', '').trim())
  const shared = path.join(own, 'commondir')
  return fs.existsSync(shared) ? path.resolve(own, fs.readFileSync(shared, 'utf8').trim()) : own
}

function urlIn(config: string, remote: string): string | null {
  let isOurs = false
  for (const line of config.split('\n')) {
    const [, section] = /^\s*\[(.*)\]\s*$/.exec(line) ?? []
    if (section !== undefined) isOurs = section === `remote "${remote.replaceAll(/["\\]/g, '\\$&')}"`
    const [, url] = /^\s*url\s*=\s*"?(.*?)"?\s*$/i.exec(line) ?? []
    if (isOurs && url !== undefined) return url
  }
  return null
}
