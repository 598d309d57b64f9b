import fs from 'node:fs'
import { Refusal } from '../../../lib/refusal.ts'
import { below, bytesOf, foldersOf, type RawPath, shown } from '../../../lib/raw-path.ts'
import { Trouble, wordsOf } from '../../../lib/trouble.ts'
import type { Git } from '../git.ts'
import { identityIn } from '../identity.ts'
import type { Link } from '../link.ts'
import { lstat } from '../lstat.ts'
import type { Nested } from '../message.ts'
import type { Place } from '../place.ts'
import { nestedState, sharedState } from '../read.ts'
import { assertTreeFits } from '../tree-size.ts'

export interface Destination {
  readonly branch: string
  readonly worktree: string | null
}

/** git may have to fetch what a partial clone has left out. */
const WITH_ALL = { GIT_NO_LAZY_FETCH: '0' } as const

/** Puts a checkpoint onto a new branch and, if wished, into a new worktree. Answers what could not be brought back. */
export async function restoreBeside(place: Place, link: Link, to: Destination): Promise<string[]> {
  const { git, repository, umask } = place
  const doing = `restoring checkpoint ${link.telling.number} onto ${to.branch}`
  await assertName(git, to.branch)
  if (to.worktree !== null && hasFiles(to.worktree)) refuse(`${to.worktree} exists already`, 'give another --worktree')
  await assertTreeFits(place, link.tree)
  const subject = `oneshot: checkpoint ${link.telling.number} (${link.telling.trigger})`
  const ref = `refs/heads/${to.branch}`
  const isThere = await isOn(git, ref, { tree: link.tree, head: link.telling.head, subject })
  const commit = isThere ? null : await commitTree(git, { ...link, head: link.telling.head, subject })
  if (commit !== null) await git.run(['update-ref', '-m', subject, ref, commit, repository.nothing.commit])
  if (to.worktree === null) return link.telling.nested.map(unrestored)
  await forgetMissing(git, to.worktree)
  try {
    await git.run(['worktree', 'add', '--', to.worktree, to.branch], { env: WITH_ALL, umask })
  } catch (cause) {
    if (commit !== null) await git.run(['update-ref', '-d', ref, commit])
    throw new Trouble(doing, cause)
  }
  return besideNested(place, link, to.worktree)
}

async function assertName(git: Git, branch: string): Promise<void> {
  const { code } = await git.ask(['check-ref-format', `refs/heads/${branch}`])
  if (code !== 0 || branch.startsWith('-'))
    throw new Refusal('usage', `${JSON.stringify(branch)} is no name for a branch`, 'give another --branch')
}

/** Whether the branch is what it would be made to be. Refuses when it is something else. */
async function isOn(
  git: Git,
  ref: string,
  wanted: { tree: string; head: string | null; subject: string },
): Promise<boolean> {
  const said = await git.line(['for-each-ref', '--format=%(tree)%00%(parent)%00%(contents:subject)', '--', ref])
  if (said === '') return false
  if (said !== [wanted.tree, wanted.head ?? '', wanted.subject].join('\0'))
    refuse(
      `the branch ${ref.replace('refs/heads/', '')} exists already, and is something else`,
      'give another --branch',
    )
  return true
}

function refuse(why: string, remedy: string): never {
  throw new Refusal('cannot-restore', why, remedy)
}

function hasFiles(folder: string): boolean {
  const stat = fs.statSync(folder, { throwIfNoEntry: false })
  return stat !== undefined && (!stat.isDirectory() || fs.readdirSync(folder).length > 0)
}

async function commitTree(git: Git, of: { tree: string; head: string | null; subject: string }): Promise<string> {
  const parent = of.head === null ? [] : ['-p', of.head]
  return git.line(['commit-tree', of.tree, ...parent], { input: of.subject, env: await identityIn(git) })
}

/** A worktree that somebody has removed by hand is still registered, and git refuses to make another one in its place. */
async function forgetMissing(git: Git, worktree: string): Promise<void> {
  if (!fs.existsSync(worktree)) await git.ask(['worktree', 'remove', '--', worktree])
}

/** Each nested repository has a worktree of its own in the new one, with no branch checked out. */
async function besideNested(place: Place, link: Link, worktree: string): Promise<string[]> {
  const unable: string[] = []
  const top = fs.realpathSync(worktree)
  for (const nested of link.telling.nested) {
    try {
      const state = (await nestedState(place, nested)) ?? (await sharedState(place, nested))
      if (state === null || !(await isFree(place, link.tree, top, nested.path))) {
        unable.push(unrestored(nested))
        continue
      }
      const { git, umask } = state.place
      await assertTreeFits(state.place, state.tree)
      const subject = `oneshot: checkpoint ${link.telling.number} (${link.telling.trigger})`
      const commit = typeof nested.state === 'string' ? nested.state : await commitTree(git, { ...state, subject })
      // By force: one that was here before, and was removed by hand, is still registered.
      const add = ['worktree', 'add', '--force', '--detach', '--', below(top, nested.path).toString(), commit]
      await git.run(add, { env: WITH_ALL, umask })
    } catch (cause) {
      unable.push(`${unrestored(nested)}: ${wordsOf(cause)}`)
    }
  }
  return unable
}

/**
 * Whether a nested repository belongs at this path: the checkpoint has one there, or nothing, and no link leads the way. The
 * path may come from a remote, and what was checked out just now as well.
 */
async function isFree({ git }: Place, tree: string, top: string, nested: RawPath): Promise<boolean> {
  const entry = (await git.run(['ls-tree', '-z', tree, '--', bytesOf(nested).toString()])).toString()
  if (entry !== '' && !entry.startsWith('160000 ')) return false
  if (foldersOf(nested).some(folder => lstat(below(top, folder))?.isDirectory() === false)) return false
  const stat = lstat(below(top, nested))
  return stat === undefined || (stat.isDirectory() && fs.readdirSync(below(top, nested)).length === 0)
}

export function unrestored({ path }: Nested): string {
  return `the repository ${shown(path)} is not restored`
}
