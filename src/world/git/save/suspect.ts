import fs from 'node:fs'
import path from 'node:path'
import { replaceFile } from '../../os/files.ts'
import type { Place } from '../place.ts'
import { moveRef } from '../ref.ts'
import { missingObjects } from './objects.ts'
import { dropIndex } from './private-index.ts'

/** A checkpoint that was made while somebody removed what no ref led to. */
interface Suspect {
  readonly commit: string
  readonly before: string | null
  readonly objects: readonly string[]
}

/** git notes that it is collecting garbage, as long as it does. */
export function isCollecting({ repository }: Place): boolean {
  return fs.existsSync(path.join(repository.commonDir, 'gc.pid'))
}

/** Remembers to look at it once more, when the collecting is over. */
export function suspect(place: Place, suspect: Suspect): void {
  replaceFile(suspectFile(place), JSON.stringify(suspect))
}

/**
 * `git gc --prune=now` knows of no object that was made after it had begun, and may take it away even after a ref has come to
 * lead to it. A ref that leads nowhere would make the user's git stumble: it goes back to the checkpoint before. Answers whether
 * it had to.
 */
export async function retreatFromBroken(place: Place): Promise<boolean> {
  const suspected = readSuspect(place)
  if (suspected === null) return false
  const isBroken = (await missingObjects(place, suspected.objects)).length > 0
  if (isBroken) await retreat(place, suspected)
  if (isBroken || !isCollecting(place)) fs.rmSync(suspectFile(place), { force: true })
  return isBroken
}

async function retreat(place: Place, { commit, before }: Suspect): Promise<void> {
  dropIndex(place)
  const { stdout } = await place.git.ask(['rev-parse', '--verify', '--quiet', place.ref])
  if (stdout.toString().trim() === commit) await moveRef(place, before, commit)
}

function readSuspect(place: Place): Suspect | null {
  try {
    return JSON.parse(fs.readFileSync(suspectFile(place), 'utf8')) as Suspect
  } catch {
    return null // There is none.
  }
}

function suspectFile({ folder }: Place): string {
  return path.join(folder, 'suspect.json')
}
