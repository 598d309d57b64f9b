import { setTimeout as pause } from 'node:timers/promises'
import { census } from './census.ts'
import { membersOf } from './control-group.ts'
import { lives, type ProcessId, type ProcessRow, signalProcess, treeOf } from './processes.ts'

const NOBODY: ReadonlySet<number> = new Set()

/** How long we pause between looks whether the tree is gone. The first are short: most programs end at once. */
const LOOKS = [10, 20, 40, 80, 160, 250]

/**
 * What is known of a tree before it is looked for: its marker, the process it grew from, and its control group, which it
 * shares with a keeper and what that one has started itself.
 */
export interface Tree {
  readonly marker: string
  readonly root: ProcessId | null
  readonly group?: { readonly path: string; readonly keeper: ProcessId } | null
}

/**
 * The tree's processes, leaves first: those that carry the marker or are in its control group, the root's descendants and,
 * while the root lives, the members of its process session. A session id is not trusted any longer than that, for pids come back.
 */
export async function findTree(tree: Tree, known: ReadonlySet<string> = new Set()): Promise<ProcessRow[]> {
  const { root } = tree
  const session = root !== null && lives(root) === 'alive' ? root.pid : -1
  const table = await census()
  const members = tree.group ? membersOf(tree.group.path) : NOBODY
  const keeper = tree.group?.keeper.pid
  const isMember = (row: ProcessRow): boolean => members.has(row.pid) && row.pid !== keeper && row.parent !== keeper
  const isRoot = (row: ProcessRow): boolean =>
    row.marker === tree.marker ||
    row.session === session ||
    isMember(row) ||
    known.has(nameOf(row)) ||
    (root !== null && row.pid === root.pid && row.birth === root.birth)
  return treeOf(table, isRoot)
    .filter(row => row.pid !== process.pid)
    .reverse()
}

/**
 * Ends everything the tree has left, wherever it hides, and resolves when nothing is. Asks with SIGTERM first and
 * gives `grace` milliseconds; what appears while we look is ended too. Answers how many it had to end. Throws when something cannot be killed.
 */
export async function endTree(tree: Tree, options: { grace: number; limit: number }): Promise<number> {
  const asked = new Set<string>()
  const begun = Date.now()
  // A list of processes is not made in one moment: what lived as it was begun may have had a child that is not in it.
  let wasAlive = tree.root !== null && lives(tree.root) !== 'dead'
  for (let look = 0; ; look++) {
    const left = await findTree(tree, asked)
    if (left.length === 0 && !wasAlive) return asked.size
    wasAlive = left.length > 0
    const waited = Date.now() - begun
    if (waited > options.limit) throw new Error(`${left.map(row => row.pid).join(', ')} cannot be ended`)
    for (const row of left) {
      if (waited >= options.grace) signalProcess(row, 'SIGKILL')
      else if (!asked.has(nameOf(row))) signalProcess(row, 'SIGTERM')
      asked.add(nameOf(row))
    }
    if (wasAlive) await pause(LOOKS[Math.min(look, LOOKS.length - 1)])
  }
}

function nameOf(row: ProcessId): string {
  return `${row.pid}/${row.birth}`
}
