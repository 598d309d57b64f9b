import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { replaceFile } from '../../os/files.ts'
import { chainOf, chainUpTo, targetOf } from '../chain.ts'
import type { Link } from '../link.ts'
import { lstat } from '../lstat.ts'
import type { Place } from '../place.ts'
import { headIn, linkIn, readCommits } from '../read-commits.ts'
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
  if (isGone && (await targetOf(place)) === suspect.commit) await moveRef(place, suspect.before, suspect.commit)
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
  const tip = await targetOf(place)
  if (tip === null || place.repository.isPartial) return
  const chain = await whatIsLeft(place, tip).catch(() => null) // Then the failure is told by whoever asks next.
  if (chain === null) return
  for (const { commit } of chain.reverse()) {
    if (await isBroken(place, commit)) continue
    return commit === tip ? undefined : moveRef(place, commit, tip)
  }
  await moveRef(place, null, tip)
}

/** The chain or, when its newest link is missing, what is known to come before that. */
async function whatIsLeft(place: Place, tip: string): Promise<Link[]> {
  if ((await missingObjects(place, [tip])).length === 0) return chainOf(place)
  const [before] = await readCommits(place.git, readBefore(place))
  const link = before ? linkIn(before) : null
  return link === null ? [] : chainUpTo(place, link)
}

/** Notes down which link comes before the newest one, for the day on which that is missing. */
export function noteBefore({ folder }: Place, before: string | null): void {
  fs.writeFileSync(path.join(folder, 'before'), before ?? '')
}

function readBefore({ folder }: Place): string[] {
  try {
    return [/^[0-9a-f]{40,64}$/.exec(fs.readFileSync(path.join(folder, 'before'), 'latin1'))?.[0] ?? []].flat()
  } catch {
    return [] // Nothing was noted down yet.
  }
}

/** Only git's word that something is missing counts: a git that is killed or finds no memory says nothing about it. */
async function isBroken({ git }: Place, commit: string): Promise<boolean> {
  const [raw] = await readCommits(git, [commit])
  const head = raw ? headIn(raw) : null
  const known = head === null ? [] : ['--not', head]
  const answer = await git.ask(['rev-list', '--objects', '--quiet', '-n', '1', commit, ...known])
  return answer.code === 128 && /^fatal: (missing \w+ object|bad (tree )?object|unable to read)/m.test(answer.stderr)
}

/** git notes for as long as it does; what is older than this, git itself takes for left behind. */
export function isCollecting({ repository }: Place): boolean {
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
