import { setTimeout as pause } from 'node:timers/promises'
import { readCgroupMembers } from '../cgroup.ts'
import { type ProcessId, type ProcessRow, checkLiveness, processTable, selectTree, signalProcess } from './processes.ts'

const NO_PIDS: ReadonlySet<number> = new Set()

/** Milliseconds between checks for the end of the tree. The first are short: most programs end at once. */
const POLL_DELAYS = [10, 20, 40, 80, 160, 250]

/**
 * The facts by which `findProcessTree` finds an attempt's processes: its marker, its root process and its control
 * group. The group also holds the shim and the shim's own children; neither belongs to the tree.
 */
export interface ProcessTree {
  readonly marker: string
  readonly root: ProcessId | null
  readonly group?: { readonly path: string; readonly shim: ProcessId } | null
}

/**
 * Returns the tree's processes, leaves first: those with the marker or in the control group, the root's descendants
 * and, while the root lives, the members of its process session. After that the session id proves nothing, because the
 * kernel reuses pids.
 */
export async function findProcessTree(
  tree: ProcessTree,
  known: ReadonlySet<string> = new Set(),
): Promise<ProcessRow[]> {
  const { root } = tree
  const session = root !== null && checkLiveness(root) === 'alive' ? root.pid : -1
  const table = await scanProcesses()
  const members = tree.group ? readCgroupMembers(tree.group.path) : NO_PIDS
  const shim = tree.group?.shim.pid
  const isMember = (row: ProcessRow): boolean => members.has(row.pid) && row.pid !== shim && row.parent !== shim
  const isRoot = (row: ProcessRow): boolean =>
    row.marker === tree.marker ||
    row.session === session ||
    isMember(row) ||
    known.has(processKey(row)) ||
    (root !== null && row.pid === root.pid && row.birth === root.birth)
  return selectTree(table, isRoot)
    .filter(row => row.pid !== process.pid)
    .reverse()
}

/**
 * Ends all processes of the tree and resolves when none is left. Sends SIGTERM, waits `grace` milliseconds and sends
 * SIGKILL, also to processes that appear meanwhile. Returns the number of signalled processes. Throws if one cannot be
 * killed.
 */
export async function endProcessTree(tree: ProcessTree, options: { grace: number; limit: number }): Promise<number> {
  const signalled = new Set<string>()
  const startedAt = Date.now()
  // A scan is not atomic: a process that lived when it began may have started a child that the scan has missed.
  let wasAlive = tree.root !== null && checkLiveness(tree.root) !== 'dead'
  for (let poll = 0; ; poll++) {
    const remaining = await findProcessTree(tree, signalled)
    if (remaining.length === 0 && !wasAlive) return signalled.size
    wasAlive = remaining.length > 0
    const waited = Date.now() - startedAt
    if (waited > options.limit) throw new Error(`${remaining.map(row => row.pid).join(', ')} cannot be ended`)
    for (const row of remaining) {
      if (waited >= options.grace) signalProcess(row, 'SIGKILL')
      else if (!signalled.has(processKey(row))) signalProcess(row, 'SIGTERM')
      signalled.add(processKey(row))
    }
    if (wasAlive) await pause(POLL_DELAYS[Math.min(poll, POLL_DELAYS.length - 1)])
  }
}

function processKey(row: ProcessId): string {
  return `${row.pid}/${row.birth}`
}

/**
 * Pause after a scan, as a multiple of its duration, so that ending 200 sessions at once leaves time for other work.
 */
const REST_FACTOR = 2

let pendingScan: Promise<ProcessRow[]> | undefined
let nextScanAt = 0

/** Lists all processes in a scan that begins after the call. One scan serves all callers that asked before it began. */
export function scanProcesses(): Promise<ProcessRow[]> {
  pendingScan ??= scanSoon()
  return pendingScan
}

async function scanSoon(): Promise<ProcessRow[]> {
  await pause(Math.max(0, nextScanAt - performance.now()))
  pendingScan = undefined
  const startedAt = performance.now()
  const table = await processTable()
  nextScanAt = performance.now() + REST_FACTOR * (performance.now() - startedAt)
  return table
}
