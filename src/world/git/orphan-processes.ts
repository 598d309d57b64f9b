import crypto from 'node:crypto'
import { scanProcesses } from '../../os/process/tree.ts'
import { endProcessTree } from '../../os/process/tree.ts'

/** Milliseconds; on SIGTERM git removes its locks. */
const KILL_GRACE = 2_000
const TIMEOUT = 10_000

/** Distinguishes the git processes of this process from those of an earlier supervisor of the same home. */
const INSTANCE_ID = crypto.randomBytes(6).toString('hex')

/** Returns the marker of the git processes that the supervisor of a home starts. */
export function markerFor(home: string): string {
  return `${markerPrefix(home)}${INSTANCE_ID}`
}

/** Ends git processes that a killed supervisor of this home has left: one may hang at a pipe. Returns their number. */
export async function endOrphanProcesses(home: string): Promise<number> {
  const found = (await scanProcesses()).flatMap(({ marker }) => marker ?? [])
  const markers = new Set(found.filter(marker => marker.startsWith(markerPrefix(home)) && marker !== markerFor(home)))
  let count = 0
  for (const marker of markers)
    count += await endProcessTree({ marker, root: null }, { grace: KILL_GRACE, limit: TIMEOUT })
  return count
}

function markerPrefix(home: string): string {
  return `checkpoints-${crypto.createHash('sha256').update(home).digest('hex').slice(0, 16)}-`
}
