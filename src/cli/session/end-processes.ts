import type { SessionView } from '../../api/contract/session-view.ts'
import { endTree } from '../../world/os/end-tree.ts'
import { attemptFolder, attemptId } from '../../world/os/folders.ts'
import type { Home } from '../../world/os/home.ts'
import { readShim, readStarted } from '../../world/os/spool.ts'
import { storeRequest } from '../../world/os/stored-request.ts'

const GRACE = 1_000
const LIMIT = 10_000

/**
 * Ends the processes of a session's current attempt without a supervisor. Its shim stays, and tells how the program ended. The
 * request is stored first: the next supervisor must not take the end for one that nobody asked for.
 */
export async function endProcesses(home: Home, { id, attempt }: SessionView, request: 'stop' | 'hold'): Promise<void> {
  const folder = attemptFolder(home, id, attempt)
  storeRequest(folder, { type: request, by: process.env['ONESHOT_SESSION'] ?? null })
  const shim = readShim(folder)
  const group = shim?.group ? { path: shim.group, keeper: shim } : null
  const tree = { marker: attemptId(id, attempt), root: readStarted(folder), group }
  await endTree(tree, { grace: GRACE, limit: LIMIT })
}
