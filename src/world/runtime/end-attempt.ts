import fs from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { hasCode, isDiskFull } from '../../lib/errors.ts'
import { hasChildCgroups, readCgroupMembers, removeCgroup } from '../../os/cgroup.ts'
import { endProcessTree, findProcessTree, type ProcessTree } from '../../os/process/tree.ts'
import type { AttemptFolder } from '../../state/session-folder.ts'
import {
  bootId,
  findInterruptGroup,
  checkLiveness,
  readParentPid,
  type ProcessId,
  signalProcess,
} from '../../os/process/processes.ts'
import { readClaim, readExit, readShim, readStarted, type ShimRecord } from '../../state/attempt-files.ts'

/** What is left of an ended attempt gets this long to go by itself. */
const TERMINATE_GRACE = 2_000
const SWEEP_LIMIT = 10_000
/** Looks for the exit record of a program that is gone, 10 ms apart. */
const EXIT_RECORD_POLLS = 300
/** Looks whether a shim that was told to go has gone, and what it waited with, 1 ms apart. */
const SHIM_EXIT_POLLS = 1_000

/** As Ctrl-C would, and only once: many programs take a second one for "at once, saving nothing". */
export function interruptAttempt(folder: AttemptFolder): void {
  const life = readStarted(folder)
  if (life === null || checkLiveness(life) !== 'alive' || !claimInterrupt(folder)) return
  const group = findInterruptGroup(life.pid)
  const isSingleProcess = group === undefined || group <= 1 // -1 would be everybody.
  if (isSingleProcess) signalProcess(life, 'SIGINT')
  else process.kill(-group, 'SIGINT')
}

/** On a full disk there is no note: an agent that is interrupted twice ends, too. */
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
 * Ends what is left of the attempt, its shim last, so that it can write down how the program ended. A shim that has gone on
 * to the next attempt is that one's, and so is its control group. Answers how many processes were ended beside it.
 */
export async function endAttempt(
  folder: AttemptFolder,
  options: { marker: string; force: boolean; drain: () => Promise<void>; next: AttemptFolder },
): Promise<number> {
  // A shim that has visibly gone on must not find the note: it would take itself for swept, and nobody would see to the next.
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

/** Nothing starts this attempt again, so its copy of the environment is of no more use; older ones have it in `launch`. */
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

/** A shim that has nothing more to do goes at a word, and what it waits with goes with it. */
async function terminateShim(shim: ProcessId): Promise<boolean> {
  signalProcess(shim, 'SIGTERM')
  for (let poll = 0; poll < SHIM_EXIT_POLLS && checkLiveness(shim) === 'alive'; poll++) await pause(1)
  return checkLiveness(shim) === 'dead'
}

/**
 * From now on nothing of the attempt begins: its launch file looks for this note before it becomes the program. On a full disk
 * a program that has begun is ended without it.
 */
function recordSweep(folder: AttemptFolder): void {
  try {
    fs.mkdirSync(folder.root, { recursive: true, mode: 0o700 })
    createMarker(folder.swept)
  } catch (cause) {
    if (!isDiskFull(cause) || readStarted(folder) === null) throw cause
  }
}

/** A shim whose program has just ended needs a moment to write down how. */
async function waitForExitRecord(folder: AttemptFolder, shim: ProcessId): Promise<boolean> {
  for (let poll = 0; poll < EXIT_RECORD_POLLS && checkLiveness(shim) === 'alive'; poll++) {
    const life = readStarted(folder)
    if (readExit(folder) !== null || life === null || checkLiveness(life) === 'alive') break
    await pause(10)
  }
  return readExit(folder) !== null
}

/** No shim has taken the attempt: now none can, however late it comes. */
function claimWithoutShim(folder: AttemptFolder): ProcessId | null {
  try {
    fs.writeFileSync(folder.claim, '0 nobody\nend\n', { flag: 'wx', mode: 0o600 })
    return null
  } catch (cause) {
    if (!hasCode(cause, 'EEXIST')) throw cause
    return readClaim(folder)
  }
}

/** Whether nothing of an attempt whose program has ended is left beside its shim and what that one waits with. */
export function hasEmptyCgroup(shim: ShimRecord): boolean {
  if (shim.group === null || hasChildCgroups(shim.group)) return false
  const others = [...readCgroupMembers(shim.group)].filter(pid => pid !== shim.pid)
  return others.every(pid => (readParentPid(pid) ?? shim.pid) === shim.pid)
}

/** What is known of an attempt's processes before they are looked for. */
export function attemptTree(folder: AttemptFolder, marker: string): ProcessTree {
  const life = readStarted(folder)
  const shim = readShim(folder)
  const group = shim?.group ? { path: shim.group, keeper: shim } : null
  return { marker, root: life === null || life.boot !== bootId ? null : life, group }
}

/** Whether its shim was called to the attempt that follows, and has taken that one. */
function isShimReused(folder: AttemptFolder, next: AttemptFolder): boolean {
  const shim = readClaim(folder)
  const claim = readClaim(next)
  return shim !== null && claim?.pid === shim.pid && claim.birth === shim.birth
}

/** Leaves a note where there was none. */
function createMarker(marker: string): boolean {
  try {
    fs.writeFileSync(marker, '', { flag: 'wx', mode: 0o600 })
    return true
  } catch (cause) {
    if (hasCode(cause, 'EEXIST')) return false
    throw cause
  }
}
