import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { which } from '../../src/os/which.ts'

export const PM2_VERSION = '7.0.4'

/** The programs of the peers, or why one is not available. Only the benchmark uses them. */
export interface Peers {
  readonly pm2: string | NotMeasured
  readonly supervisord: string | NotMeasured
  readonly runsvdir: string | NotMeasured
  readonly s6: string | NotMeasured
}

export interface NotMeasured {
  readonly notMeasured: string
}

/** Installs the peers. The guard compares with pm2 alone. */
export function installPeers(say: (sentence: string) => void, isGuard: boolean): Peers {
  const leftOut = { notMeasured: 'left out of the guard' }
  if (isGuard) return { pm2: installPm2(say), supervisord: leftOut, runsvdir: leftOut, s6: leftOut }
  return {
    pm2: installPm2(say),
    supervisord: installDebian('supervisor', 'supervisord', say),
    runsvdir: installDebian('runit', 'runsvdir', say),
    s6: installDebian('s6', 's6-svscan', say),
  }
}

/** Installs pm2 outside the repository and keeps it for the next run. */
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
    return undefined // The program is not installed yet.
  }
}

function installDebian(name: string, program: string, say: (sentence: string) => void): string | NotMeasured {
  const found = onPath(program)
  if (found !== undefined) return found
  const installer = onPath('apt-get')
  if (installer === undefined || process.getuid?.() !== 0) return { notMeasured: `${name} is not installed` }
  say(`installing the Debian package ${name} for the benchmark …`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const args = ['install', '-y', '--no-install-recommends', name]
  spawnSync(installer, args, { env, stdio: 'ignore', timeout: 180_000 })
  return onPath(program) ?? { notMeasured: `${name} could not be installed` }
}

function onPath(program: string): string | undefined {
  return which(program, process.env, '/')
}
