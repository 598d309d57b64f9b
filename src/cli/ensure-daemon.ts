import fs from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { type Client, connect } from '../api/client.ts'
import { refusal } from '../api/contract/problems.ts'
import type { DaemonView } from '../api/contract/session-view.ts'
import { Refusal } from '../lib/refusal.ts'
import type { Duration } from '../lib/time.ts'
import { type Home, homeExists, openHome } from '../world/os/home.ts'
import { assertRoom } from '../world/os/reserve.ts'
import { tailOf } from './tail-of.ts'

/** How long a daemon may take to listen: a fraction of a second, more when it has to take over from a stuck one. */
const START_PATIENCE: Duration = 20_000
/** A daemon that was told to stop finishes the deed in hand first. */
const STOP_PATIENCE: Duration = 15_000
/** Short against starting a process, long against asking. */
const POLL: Duration = 15

/** A client whose daemon answers; one is started when there is none, or when the one there is does not answer. */
export async function ensureDaemon(home: Home): Promise<Client> {
  if ((await findAnswering(home)) === undefined) await startDaemon(home)
  return connect(home.daemonSocket)
}

/** A daemon that is stuck or suspended counts as none: a newcomer decides whether to take over from it. */
export async function findAnswering(home: Home): Promise<DaemonView | undefined> {
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

/** With `isHeld` it starts nothing that is not alive; the marker tells it so, however often it has to begin. */
export async function startDaemon(home: Home, { isHeld = false } = {}): Promise<DaemonView> {
  openHome(home)
  assertRoom(home)
  if (isHeld) fs.writeFileSync(home.holdMarker, '', { mode: 0o600 })
  fs.rmSync(home.downMarker, { force: true })
  const { startKeeper } = await import('../world/os/keeper.ts') // node:child_process, 2 ms that `run` seldom needs.
  startKeeper(home)
  return await untilItAnswers(home)
}

/** For whoever has had one started. */
export async function untilItAnswers(home: Home): Promise<DaemonView> {
  const view = await repeatedly(() => findAnswering(home), START_PATIENCE)
  if (view !== undefined) return view
  const [lastWord] = tailOf(home.daemonLog, 1)
  throw refusal(
    'daemon-unreachable',
    `the supervisor did not start within ${START_PATIENCE / 1000} s${lastWord === undefined ? '' : `; the last line of its log: ${lastWord}`}`,
    'oneshot doctor',
  )
}

/** Resolves when it is gone. Work goes on; the marker it leaves keeps keeper and shims from starting another. */
export async function stopDaemon(home: Home, daemon: DaemonView): Promise<void> {
  await connect(home.daemonSocket).stopDaemon()
  if (await repeatedly(async () => (isAlive(daemon.pid) ? undefined : true), STOP_PATIENCE)) return
  throw refusal(
    'daemon-unreachable',
    `the supervisor (pid ${daemon.pid}) is still there ${STOP_PATIENCE / 1000} s after it was told to stop`,
    `see oneshot daemon log, or end it with: kill -9 ${daemon.pid}`,
  )
}

async function repeatedly<T>(attempt: () => Promise<T | undefined>, patience: Duration): Promise<T | undefined> {
  const end = Date.now() + patience
  for (;;) {
    const result = await attempt()
    if (result !== undefined || Date.now() > end) return result
    await pause(POLL)
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
