import fs from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { type Client, connect } from '../../api/client.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { DaemonView } from '../../api/contract/responses.ts'
import { Refusal } from '../../lib/errors.ts'
import type { Duration } from '../../lib/time.ts'
import { type Home, homeExists, openHome } from '../../state/home.ts'
import { assertFreeSpace } from '../../state/disk-reserve.ts'
import type { CommandContext } from '../context.ts'
import { readLastLines } from '../terminal/read-last-lines.ts'

/**
 * The time in which a daemon must listen: it needs a fraction of a second, and more when it has to replace a stuck one.
 */
const START_TIMEOUT: Duration = 20_000
/** A daemon that was asked to stop finishes the current effect first. */
const STOP_TIMEOUT: Duration = 15_000
/** In milliseconds: short compared to the start of a process, long compared to a request. */
const POLL_INTERVAL: Duration = 15

/** The state folder of a daemon, and the environment that a new one gets. */
type DaemonLocation = Pick<CommandContext, 'home' | 'env'>

/** Returns a client of a responding daemon, and starts a daemon if none responds. */
export async function ensureDaemon(location: DaemonLocation): Promise<Client> {
  const { home, env } = location
  if ((await findRespondingDaemon(home)) === undefined) await startDaemon(location)
  return connect(home.daemonSocket, env['ONESHOT_ATTEMPT'])
}

/** Treats a stuck or suspended daemon as missing: the new daemon decides if it replaces it. */
export async function findRespondingDaemon(home: Home): Promise<DaemonView | undefined> {
  try {
    return await findDaemon(home)
  } catch (cause) {
    if (cause instanceof Refusal && cause.code === 'daemon-unreachable') return undefined
    throw cause
  }
}

export async function findDaemon(home: Home): Promise<DaemonView | undefined> {
  return homeExists(home) ? await connect(home.daemonSocket).findDaemon() : undefined
}

/** With `isHeld` the daemon starts no agent that is not alive; the marker file keeps this across its restarts. */
export async function startDaemon({ home, env }: DaemonLocation, { isHeld = false } = {}): Promise<DaemonView> {
  openHome(home)
  assertFreeSpace(home)
  if (isHeld) fs.writeFileSync(home.holdMarker, '', { mode: 0o600 })
  fs.rmSync(home.downMarker, { force: true })
  const { startKeeper } = await import('../../state/keeper.ts') // node:child_process takes 2 ms to load, and `run` seldom needs it.
  startKeeper(home, env)
  return await waitForDaemon(home)
}

/** Waits until a daemon that the caller has started responds. */
export async function waitForDaemon(home: Home): Promise<DaemonView> {
  const view = await pollUntil(() => findRespondingDaemon(home), START_TIMEOUT)
  if (view !== undefined) return view
  const [lastLogLine] = readLastLines(home.daemonLog, 1)
  throw refusal(
    'daemon-unreachable',
    `the supervisor did not start within ${START_TIMEOUT / 1000} s${lastLogLine === undefined ? '' : `; the last line of its log: ${lastLogLine}`}`,
    'oneshot doctor',
  )
}

/**
 * Resolves when the daemon has exited. Agents continue; the marker that it leaves stops keeper and shims from starting
 * another.
 */
export async function stopDaemon(home: Home, daemon: DaemonView): Promise<void> {
  await connect(home.daemonSocket).stopDaemon()
  if (await pollUntil(async () => (isAlive(daemon.pid) ? undefined : true), STOP_TIMEOUT)) return
  throw refusal(
    'daemon-unreachable',
    `the supervisor (pid ${daemon.pid}) is still there ${STOP_TIMEOUT / 1000} s after it was told to stop`,
    `see oneshot daemon log, or end it with: kill -9 ${daemon.pid}`,
  )
}

async function pollUntil<T>(attempt: () => Promise<T | undefined>, timeout: Duration): Promise<T | undefined> {
  const end = Date.now() + timeout
  for (;;) {
    const result = await attempt()
    if (result !== undefined || Date.now() > end) return result
    await pause(POLL_INTERVAL)
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
