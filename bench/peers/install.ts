import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { which } from '../../src/world/os/which.ts'

export const PM2_VERSION = '7.0.4'

/** The peers to measure beside us; a peer that cannot be had says why. They are for the benchmark only. */
export interface Peers {
  /** The path of its program. */
  readonly pm2: string | NotMeasured
  readonly supervisord: 'installed' | NotMeasured
  readonly runit: 'installed' | NotMeasured
}

export interface NotMeasured {
  readonly notMeasured: string
}

export function installPeers(say: (sentence: string) => void): Peers {
  return {
    pm2: installPm2(say),
    supervisord: installDebian('supervisor', 'supervisord', say),
    runit: installDebian('runit', 'runsvdir', say),
  }
}

/** Outside the repository, and kept for the next run. */
function installPm2(say: (sentence: string) => void): Peers['pm2'] {
  const folder = path.join(process.env['XDG_CACHE_HOME'] ?? path.join(os.homedir(), '.cache'), 'oneshot-bench')
  const program = path.join(folder, 'node_modules', 'pm2', 'bin', 'pm2')
  if (installedVersion(folder) === PM2_VERSION) return program
  say(`installing pm2 ${PM2_VERSION} for the benchmark …`)
  fs.mkdirSync(folder, { recursive: true })
  const args = ['install', '--prefix', folder, `pm2@${PM2_VERSION}`, '--no-audit', '--no-fund', '--loglevel=error']
  spawnSync('npm', args, { cwd: folder, stdio: 'ignore', timeout: 180_000 })
  if (installedVersion(folder) === PM2_VERSION) return program
  return { notMeasured: `pm2 ${PM2_VERSION} could not be installed from npm` }
}

function installedVersion(folder: string): string | undefined {
  try {
    const text = fs.readFileSync(path.join(folder, 'node_modules', 'pm2', 'package.json'), 'utf8')
    return (JSON.parse(text) as { version: string }).version
  } catch {
    return undefined // Not there yet.
  }
}

function installDebian(name: string, program: string, say: (sentence: string) => void): 'installed' | NotMeasured {
  if (isOnPath(program)) return 'installed'
  if (!isOnPath('apt-get') || process.getuid?.() !== 0) return { notMeasured: `${name} is not installed` }
  say(`installing the Debian package ${name} for the benchmark …`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const args = ['install', '-y', '--no-install-recommends', name]
  spawnSync('apt-get', args, { env, stdio: 'ignore', timeout: 180_000 })
  return isOnPath(program) ? 'installed' : { notMeasured: `${name} could not be installed` }
}

function isOnPath(program: string): boolean {
  return which(program, process.env, '/') !== undefined
}
