import fs from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { hasCode, isDiskFull } from '../../lib/errors.ts'
import { removeCgroup } from '../../os/cgroup.ts'
import { endProcessTree, findProcessTree, type ProcessTree } from '../../os/process/tree.ts'
import type { AttemptFolder } from '../../state/session-folder.ts'
import { bootId, findInterruptGroup, checkLiveness, type ProcessId, signalProcess } from '../../os/process/processes.ts'
import { readClaim, readExit, readShim, readStarted } from '../../state/shim-records.ts'

/** After SIGTERM, the remaining processes of an attempt have this many milliseconds to exit. */
const TERMINATE_GRACE = 2_000
const SWEEP_LIMIT = 10_000
/** Number of polls for the exit record of a program that has ended, 10 ms apart. */
const EXIT_RECORD_POLLS = 300
/** Number of polls for the exit of a shim and its sleep process after SIGTERM, 1 ms apart. */
const SHIM_EXIT_POLLS = 1_000

/** Sends SIGINT as Ctrl-C does, and only once: many programs react to a second SIGINT by exiting without saving. */
export function interruptAttempt(folder: AttemptFolder): void {
  const life = readStarted(folder)
  if (life === null || checkLiveness(life) !== 'alive' || !claimInterrupt(folder)) return
  const group = findInterruptGroup(life.pid)
  const isSingleProcess = group === undefined || group <= 1 // kill(-1) would signal every process of the user.
  if (isSingleProcess) signalProcess(life, 'SIGINT')
  else process.kill(-group, 'SIGINT')
}

/**
 * Returns true for the first interrupt. On a full disk it cannot write the marker; a second SIGINT then also ends the
 * agent.
 */
function claimInterrupt(folder: AttemptFolder): boolean {
  try {
    return createMarker(folder.interrupted)
  } catch (cause) {
    if (!isDiskFull(cause)) throw cause
    return true
  }
}

export async function terminateAttempt(folder: AttemptFolder, marker: string): Promise<void> {
  for (const row of await findProcessTree(attemptTree(folder, marker))) signalProcess(row, 'SIGTERM')
}

/**
 * Ends the remaining processes of the attempt, and its shim last, so that the shim can record the program's exit. If
 * the shim already runs the next attempt, this function spares the shim and its control group. Returns the number of
 * processes it ended, without the shim.
 */
export async function endAttempt(
  folder: AttemptFolder,
  options: { marker: string; force: boolean; drain: () => Promise<void>; next: AttemptFolder },
): Promise<number> {
  // A reused shim must not find the marker: it would exit, and the next attempt would have no shim.
  const wasReused = isShimReused(folder, options.next)
  if (!wasReused) recordSweep(folder)
  const isReused = wasReused || isShimReused(folder, options.next)
  const tree = attemptTree(folder, options.marker)
  const grace = options.force ? 0 : TERMINATE_GRACE
  const ended = await endProcessTree(isReused ? { ...tree, group: null } : tree, { grace, limit: SWEEP_LIMIT })
  await options.drain()
  if (!isReused) await endShim(folder, options.marker)
  eraseEnvironment(folder)
  return ended
}

/**
 * Empties the files that hold the environment, because nothing starts this attempt again. Older versions wrote it to
 * `launch`.
 */
function eraseEnvironment({ launch, enter }: AttemptFolder): void {
  for (const file of [launch, enter]) if (fs.existsSync(file)) fs.truncateSync(file)
}

async function endShim(folder: AttemptFolder, marker: string): Promise<void> {
  const shim = readClaim(folder) ?? claimWithoutShim(folder)
  if (shim === null) return
  const hasExitRecord = await waitForExitRecord(folder, shim)
  const hasExited = hasExitRecord && (await terminateShim(shim))
  if (!hasExited) await endProcessTree({ marker, root: shim }, { grace: 0, limit: SWEEP_LIMIT })
  await removeAttemptCgroup(readShim(folder)?.group ?? null)
}

async function removeAttemptCgroup(group: string | null): Promise<void> {
  if (group === null) return
  for (let poll = 0; poll < SHIM_EXIT_POLLS && !removeCgroup(group); poll++) await pause(1)
}

/** Sends SIGTERM to a shim that has recorded the exit. The shim ends its sleep process and exits. */
async function terminateShim(shim: ProcessId): Promise<boolean> {
  signalProcess(shim, 'SIGTERM')
  for (let poll = 0; poll < SHIM_EXIT_POLLS && checkLiveness(shim) === 'alive'; poll++) await pause(1)
  return checkLiveness(shim) === 'dead'
}

/**
 * Writes the sweep marker. The launch file checks for it before it starts the program, so the attempt can no longer
 * start. If the disk is full and the program has already started, the sweep continues without a marker.
 */
function recordSweep(folder: AttemptFolder): void {
  try {
    fs.mkdirSync(folder.root, { recursive: true, mode: 0o700 })
    createMarker(folder.swept)
  } catch (cause) {
    if (!isDiskFull(cause) || readStarted(folder) === null) throw cause
  }
}

/** Waits for the exit record: a shim needs a moment to write it after the program has ended. */
async function waitForExitRecord(folder: AttemptFolder, shim: ProcessId): Promise<boolean> {
  for (let poll = 0; poll < EXIT_RECORD_POLLS && checkLiveness(shim) === 'alive'; poll++) {
    const life = readStarted(folder)
    if (readExit(folder) !== null || life === null || checkLiveness(life) === 'alive') break
    await pause(10)
  }
  return readExit(folder) !== null
}

/**
 * Claims the attempt when no shim has, so that a late shim cannot claim it. Returns the shim that was faster, or null.
 */
function claimWithoutShim(folder: AttemptFolder): ProcessId | null {
  try {
    fs.writeFileSync(folder.claim, '0 nobody\nend\n', { flag: 'wx', mode: 0o600 })
    return null
  } catch (cause) {
    if (!hasCode(cause, 'EEXIST')) throw cause
    return readClaim(folder)
  }
}

/** Collects the recorded facts by which the process scan finds the attempt's processes. */
export function attemptTree(folder: AttemptFolder, marker: string): ProcessTree {
  const life = readStarted(folder)
  const shim = readShim(folder)
  const group = shim?.group ? { path: shim.group, shim } : null
  return { marker, root: life === null || life.boot !== bootId ? null : life, group }
}

/** Returns true if the shim of this attempt has claimed the next attempt. */
function isShimReused(folder: AttemptFolder, next: AttemptFolder): boolean {
  const shim = readClaim(folder)
  const claim = readClaim(next)
  return shim !== null && claim?.pid === shim.pid && claim.birth === shim.birth
}

/** Creates the marker file. Returns false if it already exists. */
function createMarker(marker: string): boolean {
  try {
    fs.writeFileSync(marker, '', { flag: 'wx', mode: 0o600 })
    return true
  } catch (cause) {
    if (hasCode(cause, 'EEXIST')) return false
    throw cause
  }
}
