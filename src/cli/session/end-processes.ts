import type { SessionView } from '../../api/contract/session-view.ts'
import { endTree } from '../../world/os/end-tree.ts'
import { attemptFolder, attemptId } from '../../world/os/folders.ts'
import type { Home } from '../../world/os/home.ts'
import { readShim, readStarted } from '../../world/os/spool.ts'

const GRACE = 1_000
const LIMIT = 10_000

/** Ends the processes of a session's current attempt without a supervisor. Its shim stays, and tells how the program ended. */
export async function endProcesses(home: Home, { id, attempt }: SessionView): Promise<void> {
  const folder = attemptFolder(home, id, attempt)
  const shim = readShim(folder)
  const group = shim?.group ? { path: shim.group, keeper: shim } : null
  const tree = { marker: attemptId(id, attempt), root: readStarted(folder), group }
  await endTree(tree, { grace: GRACE, limit: LIMIT })
}
