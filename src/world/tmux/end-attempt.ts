import fs from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { hasCode, isDiskFull } from '../../lib/trouble.ts'
import { isDivided, membersOf, removeGroup } from '../os/control-group.ts'
import { endTree, findTree, type Tree } from '../os/end-tree.ts'
import type { AttemptFolder } from '../os/folders.ts'
import { bootId, groupToInterrupt, lives, parentOf, type ProcessId, signalProcess } from '../os/processes.ts'
import { readClaim, readExit, readShim, readStarted, type Shim } from '../os/spool.ts'

/** What is left of an ended attempt gets this long to go by itself. */
const POLITE_GRACE = 2_000
const SWEEP_LIMIT = 10_000
/** Looks for the exit record of a program that is gone, 10 ms apart. */
const CONCLUDE_LOOKS = 300
/** Looks whether a shim that was told to go has gone, and what it waited with, 1 ms apart. */
const LEAVE_LOOKS = 1_000

/** As Ctrl-C would, and only once: many programs take a second one for "at once, saving nothing". */
export function interruptAttempt(folder: AttemptFolder): void {
  const life = readStarted(folder)
  if (life === null || lives(life) !== 'alive' || !mayInterrupt(folder)) return
  const group = groupToInterrupt(life.pid)
  const isOfOne = group === undefined || group <= 1 // -1 would be everybody.
  if (isOfOne) signalProcess(life, 'SIGINT')
  else process.kill(-group, 'SIGINT')
}

/** On a full disk there is no note: an agent that is interrupted twice ends, too. */
function mayInterrupt(folder: AttemptFolder): boolean {
  try {
    return isFirst(folder.interrupted)
  } catch (cause) {
    if (!isDiskFull(cause)) throw cause
    return true
  }
}

export async function terminateAttempt(folder: AttemptFolder, marker: string): Promise<void> {
  for (const row of await findTree(attemptTree(folder, marker))) signalProcess(row, 'SIGTERM')
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
  const wasPassedOn = hasGoneOn(folder, options.next)
  if (!wasPassedOn) noteSweep(folder)
  const isPassedOn = wasPassedOn || hasGoneOn(folder, options.next)
  const tree = attemptTree(folder, options.marker)
  const grace = options.force ? 0 : POLITE_GRACE
  const ended = await endTree(isPassedOn ? { ...tree, group: null } : tree, { grace, limit: SWEEP_LIMIT })
  await options.drain()
  if (!isPassedOn) await endShim(folder, options.marker)
  forgetEnvironment(folder)
  return ended
}

/** Nothing starts this attempt again, so its copy of the environment is of no more use; older ones have it in `launch`. */
function forgetEnvironment({ launch, enter }: AttemptFolder): void {
  for (const file of [launch, enter]) if (fs.existsSync(file)) fs.truncateSync(file)
}

async function endShim(folder: AttemptFolder, marker: string): Promise<void> {
  const shim = readClaim(folder) ?? claimForNobody(folder)
  if (shim === null) return
  const hasConcluded = await untilConcluded(folder, shim)
  const hasLeft = hasConcluded && (await leaves(shim))
  if (!hasLeft) await endTree({ marker, root: shim }, { grace: 0, limit: SWEEP_LIMIT })
  await giveBack(readShim(folder)?.group ?? null)
}

async function giveBack(group: string | null): Promise<void> {
  if (group === null) return
  for (let look = 0; look < LEAVE_LOOKS && !removeGroup(group); look++) await pause(1)
}

/** A shim that has nothing more to do goes at a word, and what it waits with goes with it. */
async function leaves(shim: ProcessId): Promise<boolean> {
  signalProcess(shim, 'SIGTERM')
  for (let look = 0; look < LEAVE_LOOKS && lives(shim) === 'alive'; look++) await pause(1)
  return lives(shim) === 'dead'
}

/**
 * From now on nothing of the attempt begins: its launch file looks for this note before it becomes the program. On a full disk
 * a program that has begun is ended without it.
 */
function noteSweep(folder: AttemptFolder): void {
  try {
    fs.mkdirSync(folder.root, { recursive: true, mode: 0o700 })
    isFirst(folder.swept)
  } catch (cause) {
    if (!isDiskFull(cause) || readStarted(folder) === null) throw cause
  }
}

/** A shim whose program has just ended needs a moment to write down how. */
async function untilConcluded(folder: AttemptFolder, shim: ProcessId): Promise<boolean> {
  for (let look = 0; look < CONCLUDE_LOOKS && lives(shim) === 'alive'; look++) {
    const life = readStarted(folder)
    if (readExit(folder) !== null || life === null || lives(life) === 'alive') break
    await pause(10)
  }
  return readExit(folder) !== null
}

/** No shim has taken the attempt: now none can, however late it comes. */
function claimForNobody(folder: AttemptFolder): ProcessId | null {
  try {
    fs.writeFileSync(folder.claim, '0 nobody\nend\n', { flag: 'wx', mode: 0o600 })
    return null
  } catch (cause) {
    if (!hasCode(cause, 'EEXIST')) throw cause
    return readClaim(folder)
  }
}

/** Whether nothing of an attempt whose program has ended is left beside its shim and what that one waits with. */
export function isAlone(shim: Shim): boolean {
  if (shim.group === null || isDivided(shim.group)) return false
  const others = [...membersOf(shim.group)].filter(pid => pid !== shim.pid)
  return others.every(pid => (parentOf(pid) ?? shim.pid) === shim.pid)
}

/** What is known of an attempt's processes before they are looked for. */
export function attemptTree(folder: AttemptFolder, marker: string): Tree {
  const life = readStarted(folder)
  const shim = readShim(folder)
  const group = shim?.group ? { path: shim.group, keeper: shim } : null
  return { marker, root: life === null || life.boot !== bootId ? null : life, group }
}

/** Whether its shim was called to the attempt that follows, and has taken that one. */
function hasGoneOn(folder: AttemptFolder, next: AttemptFolder): boolean {
  const shim = readClaim(folder)
  const claim = readClaim(next)
  return shim !== null && claim?.pid === shim.pid && claim.birth === shim.birth
}

/** Leaves a note where there was none. */
function isFirst(note: string): boolean {
  try {
    fs.writeFileSync(note, '', { flag: 'wx', mode: 0o600 })
    return true
  } catch (cause) {
    if (hasCode(cause, 'EEXIST')) return false
    throw cause
  }
}
