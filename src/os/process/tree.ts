import { setTimeout as pause } from 'node:timers/promises'
import { readCgroupMembers } from '../cgroup.ts'
import { type ProcessId, type ProcessRow, checkLiveness, processTable, selectTree, signalProcess } from './processes.ts'

const NO_PIDS: ReadonlySet<number> = new Set()

/** How long we pause between looks whether the tree is gone. The first are short: most programs end at once. */
const POLL_DELAYS = [10, 20, 40, 80, 160, 250]

/**
 * What is known of a tree before it is looked for: its marker, the process it grew from, and its control group, which it
 * shares with a keeper and what that one has started itself.
 */
export interface ProcessTree {
  readonly marker: string
  readonly root: ProcessId | null
  readonly group?: { readonly path: string; readonly keeper: ProcessId } | null
}

/**
 * The tree's processes, leaves first: those that carry the marker or are in its control group, the root's descendants and,
 * while the root lives, the members of its process session. A session id is not trusted any longer than that, for pids come back.
 */
export async function findProcessTree(
  tree: ProcessTree,
  known: ReadonlySet<string> = new Set(),
): Promise<ProcessRow[]> {
  const { root } = tree
  const session = root !== null && checkLiveness(root) === 'alive' ? root.pid : -1
  const table = await scanProcesses()
  const members = tree.group ? readCgroupMembers(tree.group.path) : NO_PIDS
  const keeper = tree.group?.keeper.pid
  const isMember = (row: ProcessRow): boolean => members.has(row.pid) && row.pid !== keeper && row.parent !== keeper
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
 * Ends everything the tree has left, wherever it hides, and resolves when nothing is. Asks with SIGTERM first and
 * gives `grace` milliseconds; what appears while we look is ended too. Answers how many it had to end. Throws when something cannot be killed.
 */
export async function endProcessTree(tree: ProcessTree, options: { grace: number; limit: number }): Promise<number> {
  const signalled = new Set<string>()
  const startedAt = Date.now()
  // A list of processes is not made in one moment: what lived as it was begun may have had a child that is not in it.
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

/** After a scan we rest twice as long as it took, so that ending 200 sessions at once leaves time for everything else. */
const REST_FACTOR = 2

let pendingScan: Promise<ProcessRow[]> | undefined
let nextScanAt = 0

/** Every process there is, seen after this was called. One scan serves everybody who asked before it began. */
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
