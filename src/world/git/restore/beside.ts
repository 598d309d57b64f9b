import fs from 'node:fs'
import path from 'node:path'
import { bytesOf, shown } from '../../../lib/raw-path.ts'
import { Trouble, wordsOf } from '../../../lib/trouble.ts'
import type { Git } from '../git.ts'
import { identityIn } from '../identity.ts'
import type { Link } from '../link.ts'
import type { Nested } from '../message.ts'
import type { Place } from '../place.ts'
import { nestedState, sharedState } from '../read.ts'

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
  await assertFree(git, doing, to)
  const subject = `oneshot: checkpoint ${link.telling.number} (${link.telling.trigger})`
  const commit = await commitTree(git, { ...link, head: link.telling.head, subject })
  const ref = `refs/heads/${to.branch}`
  await git.run(['update-ref', '-m', subject, ref, commit, repository.nothing.commit])
  if (to.worktree === null) return link.telling.nested.map(unrestored)
  try {
    await git.run(['worktree', 'add', '--', to.worktree, to.branch], { env: WITH_ALL, umask })
  } catch (cause) {
    await git.run(['update-ref', '-d', ref, commit])
    throw new Trouble(doing, cause)
  }
  return besideNested(place, link, to.worktree)
}

async function assertFree(git: Git, doing: string, { branch, worktree }: Destination): Promise<void> {
  const refuse = (why: string): never => {
    throw new Trouble(doing, why, { mayHelpToRetry: false })
  }
  if ((await git.ask(['check-ref-format', `refs/heads/${branch}`])).code !== 0 || branch.startsWith('-')) {
    refuse('that is no name for a branch')
  }
  const taken = await git.ask(['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`])
  if (taken.code === 0) refuse(`the branch ${branch} exists already`)
  if (worktree !== null && hasFiles(worktree)) refuse(`${worktree} exists already`)
}

function hasFiles(folder: string): boolean {
  const stat = fs.statSync(folder, { throwIfNoEntry: false })
  return stat !== undefined && (!stat.isDirectory() || fs.readdirSync(folder).length > 0)
}

async function commitTree(git: Git, of: { tree: string; head: string | null; subject: string }): Promise<string> {
  const parent = of.head === null ? [] : ['-p', of.head]
  return git.line(['commit-tree', of.tree, ...parent], { input: of.subject, env: await identityIn(git) })
}

/** Each nested repository has a worktree of its own in the new one, with no branch checked out. */
async function besideNested(place: Place, link: Link, worktree: string): Promise<string[]> {
  const unable: string[] = []
  for (const nested of link.telling.nested) {
    try {
      const state = (await nestedState(place, nested)) ?? (await sharedState(place, nested))
      if (state === null) {
        unable.push(unrestored(nested))
        continue
      }
      const { git, umask } = state.place
      const subject = `oneshot: checkpoint ${link.telling.number} (${link.telling.trigger})`
      const commit = typeof nested.state === 'string' ? nested.state : await commitTree(git, { ...state, subject })
      const folder = path.join(worktree, bytesOf(nested.path).toString())
      await git.run(['worktree', 'add', '--detach', '--', folder, commit], { env: WITH_ALL, umask })
    } catch (cause) {
      unable.push(`${unrestored(nested)}: ${wordsOf(cause)}`)
    }
  }
  return unable
}

export function unrestored({ path }: Nested): string {
  return `the repository ${shown(path)} is not brought back`
}
