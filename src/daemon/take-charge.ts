import fs from 'node:fs'
import http from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { DaemonView } from '../api/contract/session-view.ts'
import { refusal } from '../api/contract/problems.ts'
import { isDiskFull } from '../lib/trouble.ts'
import type { Home } from '../world/os/home.ts'
import { isSuspended } from '../world/os/processes.ts'
import { SupervisorLock } from '../world/store/supervisor-lock.ts'

/** A holder that is not known to be suspended may be starting, or busy; it gets this long to answer. */
const PATIENCE = 15_000

/**
 * Becomes the one supervisor, or refuses with a sentence that names the one there is. The lock dies with its holder, so
 * a dead one is followed at once. One that lives and does not answer is put out of action by the epoch.
 */
export async function takeCharge(home: Home): Promise<SupervisorLock> {
  const begun = Date.now()
  for (;;) {
    const lock = SupervisorLock.tryTake(home.lock)
    if (lock !== undefined) return lock
    const holder = await askHolder(home)
    if (holder !== undefined) {
      throw refusal(
        'daemon-running',
        `a supervisor is already running: pid ${holder.pid}, epoch ${holder.epoch}, since ${holder.startedAt}`,
      )
    }
    const pid = recordedPid(home)
    const isHopeless = (pid !== undefined && isSuspended(pid)) || Date.now() - begun > PATIENCE
    const seized = isHopeless ? SupervisorLock.seize(home.lock) : undefined
    if (seized !== undefined) return seized
    await pause(100)
  }
}

/** On a full disk it is not recorded: then a successor waits a little longer before it takes over from a suspended one. */
export function recordPid(home: Home): void {
  try {
    fs.writeFileSync(`${home.lock}.pid`, String(process.pid), { mode: 0o600 })
  } catch (cause) {
    if (!isDiskFull(cause)) throw cause
  }
}

function recordedPid(home: Home): number | undefined {
  try {
    return Number(fs.readFileSync(`${home.lock}.pid`, 'utf8'))
  } catch {
    return undefined // Nobody has got that far yet.
  }
}

function askHolder(home: Home): Promise<DaemonView | undefined> {
  return new Promise(resolve => {
    const request = http.get({ socketPath: home.daemonSocket, path: '/v1/daemon', timeout: 1_000 }, response => {
      let text = ''
      response.on('data', chunk => {
        text += chunk
      })
      response.on('end', () => resolve(JSON.parse(text) as DaemonView))
    })
    request.on('timeout', () => request.destroy(new Error('no answer')))
    request.on('error', () => resolve(undefined))
  })
}
