import fs from 'node:fs'
import path from 'node:path'
import { GitFailed } from './git-failed.ts'
import type { Link } from './link.ts'
import type { Place } from './place.ts'
import { linkIn, readCommits, readEach } from './read-commits.ts'

/** The newest one. What is known of it is not asked for again while the ref stays. */
export async function tipOf(place: Place): Promise<Link | null> {
  const { tips } = place.memory
  const file = refFile(place)
  const known = tips.get(file)
  if (known !== undefined && readLoose(file) === known.commit) return known
  const commit = await targetOf(place)
  if (commit === null) return null
  const [raw] = await readCommits(place.git, [commit])
  if (!raw) throw new GitFailed('cat-file', { code: 1, stderr: `the newest checkpoint ${commit} is missing` })
  const tip = linkIn(raw)
  if (tip === null || !belongsTo(place, tip)) return null
  rememberTip(place, tip)
  return tip
}

/** The commit that the ref leads to, whether it is there or not. */
export async function targetOf({ git, ref }: Place): Promise<string | null> {
  const { stdout } = await git.ask(['rev-parse', '--verify', '--quiet', ref])
  return stdout.toString().trim() || null
}

/** Of one that we have just made. */
export function rememberTip(place: Place, tip: Link): void {
  place.memory.tips.set(refFile(place), tip)
}

/** All of them, oldest first. */
export async function chainOf(place: Place): Promise<Link[]> {
  const tip = await tipOf(place)
  return tip === null ? [] : chainUpTo(place, tip)
}

/** Thinning keeps far fewer. A longer one is not ours, and is read no further. */
const LONGEST_CHAIN = 5_000

/** The part of it that ends here. Where a commit is missing, it begins after that. */
export async function chainUpTo(place: Place, tip: Link): Promise<Link[]> {
  // No chain is longer than its last number. Beyond its beginning lies what HEAD was then, and all of its history.
  const limit = `--max-count=${Math.min(tip.telling.number, LONGEST_CHAIN)}`
  const answer = await place.git.ask(['rev-list', '--first-parent', limit, tip.commit, '--'])
  const links: Link[] = []
  for (const link of await readEach(place.git, answer.stdout.toString().split('\n').slice(0, -1), linkIn)) {
    const after = links.at(-1)
    if (!link || !belongsTo(place, link)) break
    if (after !== undefined && link.telling.number >= after.telling.number) break
    links.push(link)
  }
  if (links.length === 0 || ![0, 128].includes(answer.code ?? -1)) throw new GitFailed('rev-list', answer)
  return links.reverse()
}

/** Whoever can write to a remote can let a ref lead to the checkpoint of another session. */
function belongsTo({ sessionId, path }: Place, { telling }: Link): boolean {
  return telling.sessionId === sessionId && telling.path === path
}

/** Where the ref is, which has nearly always a file of its own: git packs refs once in a while, or keeps them otherwise. */
function refFile({ repository, ref }: Place): string {
  return path.join(repository.commonDir, ref)
}

function readLoose(file: string): string | null {
  try {
    return fs.readFileSync(file, 'latin1').trim()
  } catch {
    return null // Then git is asked.
  }
}
