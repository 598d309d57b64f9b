import fs from 'node:fs'
import path from 'node:path'
import { shown } from '../../../lib/raw-path.ts'
import type { Instant } from '../../../lib/time.ts'
import { wordsOf } from '../../../lib/trouble.ts'
import { identityIn } from '../identity.ts'
import type { Place } from '../place.ts'
import type { Gathered } from './gather.ts'
import { replaceIndex, stagedBeyond } from './user-index.ts'
import type { Wish } from './wish.ts'

/** What came of it: where HEAD is now, or why it is where it was. */
export interface Visible {
  readonly head: string | null
  readonly note?: string
}

/** Files of a git folder that say that somebody is in the middle of something. */
const UNDER_WAY: Readonly<Record<string, string>> = {
  MERGE_HEAD: 'a merge',
  'rebase-merge': 'a rebase',
  'rebase-apply': 'a rebase',
  CHERRY_PICK_HEAD: 'a cherry-pick',
  REVERT_HEAD: 'a revert',
  BISECT_LOG: 'a bisection',
}

/**
 * Commits a tree on the branch that is checked out, as `git commit --all` would, and brings the user's index up to it. Both
 * are left alone when it is not the moment for it.
 */
export async function commitVisibly(place: Place, tree: string, gathered: Gathered, wish: Wish): Promise<Visible> {
  try {
    return await tryCommit(place, tree, gathered, wish.occasion.at)
  } catch (cause) {
    if (place.git.signal.aborted) throw cause
    return { head: gathered.seen.head, note: `there is no visible commit: ${wordsOf(cause)}` }
  }
}

async function tryCommit(place: Place, tree: string, { seen, refused }: Gathered, at: Instant): Promise<Visible> {
  const { head } = seen
  const { git, repository } = place
  const branch = (await git.ask(['symbolic-ref', '--quiet', 'HEAD'])).stdout.toString().trim()
  const objection = objectionTo(repository.gitDir, branch)
  if (objection !== null) return { head, note: `there is no visible commit: ${objection}` }
  if (head !== null && (await git.line(['rev-parse', `${head}^{tree}`])) === tree) return { head }
  // Both would be undone by it: what a commit has that was pulled, and what is staged.
  if (refused[0] !== undefined) throw new Error(refused[0])
  const [staged] = await stagedBeyond(place, tree)
  if (staged !== undefined) throw new Error(`${shown(staged)} is staged, and is not part of the checkpoint`)
  const subject = `WIP: checkpoint ${clock(at)}`
  const parent = head === null ? [] : ['-p', head]
  const env = await identityIn(git)
  const commit = await git.line(['commit-tree', tree, ...parent], { input: subject, env })
  const move = ['update-ref', '-m', `commit: ${subject}`, 'HEAD', commit, head ?? repository.nothing.commit]
  await replaceIndex(place, tree, () => git.run(move, { env }))
  return { head: commit }
}

function objectionTo(gitDir: string, branch: string): string | null {
  if (branch === '') return 'no branch is checked out'
  for (const [file, what] of Object.entries(UNDER_WAY)) {
    if (fs.existsSync(path.join(gitDir, file))) return `${what} is under way`
  }
  return null
}

function clock(at: Instant): string {
  const time = new Date(at)
  return [time.getHours(), time.getMinutes()].map(part => String(part).padStart(2, '0')).join('')
}
