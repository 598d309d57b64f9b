import fs from 'node:fs'
import path from 'node:path'
import { rememberTip } from '../chain.ts'
import { GitFailed } from '../git-failed.ts'
import { OURS } from '../identity.ts'
import type { Link } from '../link.ts'
import { type Telling, writeMessage } from '../message.ts'
import type { Place } from '../place.ts'
import { healLock, syncRef, UPDATE_REF } from '../ref.ts'
import { syncObjects } from './objects.ts'
import { isQuietSince, noteBefore, retreatWhenBroken } from './soundness.ts'

/** What becomes a link of the chain. */
export interface Draft {
  readonly tree: string
  readonly telling: Telling
  readonly record: string
  /** The one before. */
  readonly last: Link | null
  /** What is new in it. */
  readonly objects: readonly string[]
  /** As it was before anything was written. */
  readonly bustle: string
}

/**
 * Makes the commit and lets the ref lead to it, if that still leads to the one before. All that it is made of is durable by
 * then; its own name is made so before that of the ref.
 */
export async function commitLink(place: Place, draft: Draft): Promise<Link> {
  const { tree, telling, last, objects } = draft
  const before = last?.commit ?? null
  await healLock(place)
  const commit = await commitAndMove(place, draft)
  await syncObjects(place, [commit])
  await syncRef(place)
  const suspect = { commit, before, objects: [commit, ...objects] }
  if (!isQuietSince(place, draft.bustle) && (await retreatWhenBroken(place, suspect))) {
    throw new GitFailed('gc', { code: 1, stderr: 'git gc removed the saved files' })
  }
  const link: Link = { commit, tree, telling }
  rememberTip(place, link)
  noteBefore(place, before)
  return link
}

/** The parents are the checkpoint before and HEAD, so that whoever has the ref has the commits of that time as well. */
async function commitAndMove({ git, ref, repository, folder }: Place, draft: Draft): Promise<string> {
  const { tree, telling, record, last } = draft
  const parents = [last?.commit, telling.head].flatMap(parent => (parent ? ['-p', parent] : []))
  const seconds = `@${Math.floor(telling.at / 1000)} +0000`
  // In a file: were it handed over and we killed meanwhile, what has arrived of it would pass for the whole.
  const message = path.join(folder, 'message')
  fs.writeFileSync(message, writeMessage(telling, record), { mode: 0o600 })
  const words = [ref, last?.commit ?? repository.nothing.commit, '-F', message, tree, ...parents]
  const env = { ...OURS, GIT_AUTHOR_DATE: seconds, GIT_COMMITTER_DATE: seconds }
  const answer = await git.script(SCRIPT, words, { env })
  if (answer.code !== 0) throw new GitFailed('commit-tree', answer)
  return answer.stdout.toString().trim()
}

const SCRIPT = `
ref=$1 before=$2
shift 2
commit=$(git commit-tree "$@") || exit
echo "$commit"
git ${UPDATE_REF.join(' ')} "$ref" "$commit" "$before"
`
