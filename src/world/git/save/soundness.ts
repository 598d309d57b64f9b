import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { replaceFile } from '../../os/files.ts'
import { chainOf } from '../chain.ts'
import type { Link } from '../link.ts'
import { lstat } from '../lstat.ts'
import type { Place } from '../place.ts'
import { moveRef } from '../ref.ts'
import { missingObjects } from './objects.ts'
import { stampOf } from './sparse-mark.ts'

/** Milliseconds; the garbage of a large repository takes longer, but is seldom all collected at once. */
const PATIENCE = 60_000
const LOOK_AGAIN = 100
const LONGEST = 12 * 3_600_000

/** A checkpoint that was made while somebody else was at work in the repository. */
interface Suspect {
  readonly commit: string
  readonly before: string | null
  readonly objects: readonly string[]
}

/**
 * Changes when somebody begins or ends to collect garbage, or does almost anything else in the repository: git puts a file into
 * its folder for it.
 */
export function bustleIn({ repository }: Place): string {
  return stampOf(repository.commonDir)
}

export function isQuietSince(place: Place, bustle: string): boolean {
  return bustleIn(place) === bustle && !isCollecting(place)
}

/**
 * Looks whether what was saved is still there. `git gc --prune=now` knows of no object that was made after it had begun, and
 * may take it away even after a ref has come to lead to it; so it is looked at once more when that is over. A ref that leads
 * nowhere would make the user's git stumble: it goes back to the checkpoint before. Answers whether it had to.
 */
export async function retreatWhenBroken(place: Place, suspect = readSuspect(place)): Promise<boolean> {
  if (suspect === null || place.repository.isPartial) return false
  const isGone = (await missingObjects(place, suspect.objects)).length > 0
  if (isGone) {
    const { stdout } = await place.git.ask(['rev-parse', '--verify', '--quiet', place.ref])
    if (stdout.toString().trim() === suspect.commit) await moveRef(place, suspect.before, suspect.commit)
  }
  if (!isGone && isCollecting(place)) replaceFile(suspectFile(place), JSON.stringify(suspect))
  else fs.rmSync(suspectFile(place), { force: true })
  return isGone
}

/**
 * After a failure that may come from it: waits until nobody collects garbage any more, which would take away the next try as
 * well, and goes back to the newest checkpoint of which nothing is missing.
 */
export async function retreatToSound(place: Place): Promise<void> {
  const { signal } = place.git
  for (let waited = 0; waited < PATIENCE && isCollecting(place); waited += LOOK_AGAIN) {
    await pause(LOOK_AGAIN, undefined, { signal })
  }
  if (place.repository.isPartial) return
  const chain = await chainOf(place).catch(() => []) // Then the failure is told by whoever asks next.
  const tip = chain.at(-1)
  for (const [at, link] of [...chain.entries()].reverse()) {
    if (!(await isBroken(place, link))) {
      return link === tip ? undefined : moveRef(place, link.commit, tip?.commit ?? null)
    }
    if (at === 0) return moveRef(place, null, tip?.commit ?? null)
  }
}

/** Only git's word that something is missing counts: a git that is killed or finds no memory says nothing about it. */
async function isBroken({ git }: Place, { commit, telling }: Link): Promise<boolean> {
  const known = telling.head === null ? [] : ['--not', telling.head]
  const answer = await git.ask(['rev-list', '--objects', '--quiet', '-n', '1', commit, ...known])
  return answer.code === 128 && /^fatal: (missing \w+ object|bad (tree )?object|unable to read)/m.test(answer.stderr)
}

/** git notes for as long as it does; what is older than this, git itself takes for left behind. */
function isCollecting({ repository }: Place): boolean {
  const stat = lstat(path.join(repository.commonDir, 'gc.pid'))
  return stat !== undefined && Date.now() - stat.mtimeMs < LONGEST
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
