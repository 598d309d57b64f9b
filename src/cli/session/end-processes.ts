import type { SessionView } from '../../api/contract/responses.ts'
import { endProcessTree } from '../../os/process/tree.ts'
import { attemptFolder, attemptId } from '../../state/session-folder.ts'
import type { Home } from '../../state/home.ts'
import { readShim, readStarted } from '../../state/shim-records.ts'
import { storeRequest } from '../../state/stored-request.ts'

const GRACE_PERIOD = 1_000
const END_TIMEOUT = 10_000

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
