import fs from 'node:fs'
import type { SessionView } from '../../api/contract/responses.ts'
import { endProcessTree } from '../../os/process/tree.ts'
import { attemptFolder, attemptId } from '../../state/session-folder.ts'
import type { Home } from '../../state/home.ts'
import { readShim, readStarted } from '../../state/shim-records.ts'
import { storeRequest } from '../../state/stored-request.ts'

const GRACE_PERIOD = 1_000
const END_TIMEOUT = 10_000
/** Bytes. A supervisor needs less to start and to record the end of a session. */
const CUT_SIZE = 524_288

/**
 * Ends the processes of a session's current attempt without a supervisor. Its shim stays, and records the exit of the
 * program. This stores the request first: the next supervisor must not take the exit for an unrequested one.
 */
export async function endProcesses(
  home: Home,
  { id, attempt }: SessionView,
  request: Parameters<typeof storeRequest>[1],
): Promise<void> {
  const folder = attemptFolder(home, id, attempt)
  storeRequest(folder, request)
  const shim = readShim(folder)
  const group = shim?.group ? { path: shim.group, shim } : null
  const tree = { marker: attemptId(id, attempt), root: readStarted(folder), group }
  await endProcessTree(tree, { grace: GRACE_PERIOD, limit: END_TIMEOUT })
}

/**
 * Removes the end of the output of the session's current attempt, and so makes space on a full disk. No process of the
 * attempt may live. Returns the number of removed bytes.
 */
export function cutOutput(home: Home, { id, attempt }: SessionView): number {
  const { stdout, stderr } = attemptFolder(home, id, attempt)
  const [largest = stdout] = [stdout, stderr].toSorted((one, other) => sizeOf(other) - sizeOf(one))
  const size = sizeOf(largest)
  const removed = Math.min(size, CUT_SIZE)
  if (removed > 0) truncateFile(largest, size - removed)
  return removed
}

/** Returns 0 for a link, a pipe and a missing file. */
function sizeOf(file: string): number {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false })
  return stat?.isFile() === true ? stat.size : 0
}

/** Follows no link: the agent may have put one there since the check. */
function truncateFile(file: string, length: number): void {
  const { O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants
  const fd = fs.openSync(file, O_WRONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    fs.ftruncateSync(fd, length)
  } finally {
    fs.closeSync(fd)
  }
}
