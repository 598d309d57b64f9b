import crypto from 'node:crypto'
import { census } from '../os/census.ts'
import { endTree } from '../os/end-tree.ts'

/** Milliseconds; on SIGTERM git removes the locks that it holds. */
const GRACE = 2_000
const LIMIT = 10_000

/** Tells the git processes of this process from those of an earlier supervisor of the same home. */
const SELF = crypto.randomBytes(6).toString('hex')

/** The marker of the git processes that the supervisor of a home starts. */
export function markerFor(home: string): string {
  return `${markersOf(home)}${SELF}`
}

/** Ends git processes that a killed supervisor of this home has left: one may wait at a pipe for ever. Answers how many. */
export async function endOrphans(home: string): Promise<number> {
  const found = (await census()).flatMap(({ marker }) => marker ?? [])
  const markers = new Set(found.filter(marker => marker.startsWith(markersOf(home)) && marker !== markerFor(home)))
  let count = 0
  for (const marker of markers) count += await endTree({ marker, root: null }, { grace: GRACE, limit: LIMIT })
  return count
}

function markersOf(home: string): string {
  return `checkpoints-${crypto.createHash('sha256').update(home).digest('hex').slice(0, 16)}-`
}
