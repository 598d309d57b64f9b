import path from 'node:path'
import type { Snapshot } from '../../../core/loop/evidence.ts'
import type { Head, Returned } from '../../../ports/workshop.ts'
import { readPart } from '../../os/files.ts'
import { GitFailed } from '../git-failed.ts'
import { headOf } from '../head.ts'
import type { Place } from '../place.ts'
import { wasPointed } from './checkout-state.ts'
import { movesSince, reflogSize } from './reflog.ts'
import { commitAt, isIn } from './shop.ts'

/**
 * Brings the user's checkout back to a branch that somebody has left. Where the branch only has to follow what is checked out, no file is
 * touched; else git checks it out, and refuses where that would write over something. A HEAD that somebody has only pointed elsewhere
 * has the files of this branch: it is pointed back, and the branch does not follow.
 */
export async function returnTo(
  place: Place,
  branch: string,
  since: Pick<Snapshot, 'head' | 'reflog'> | null,
): Promise<Returned> {
  const { git, repository } = place
  const ref = `refs/heads/${branch}`
  const now = readIfThere(path.join(repository.gitDir, 'HEAD'))?.trim() ?? ''
  if (now === `ref: ${ref}`) return { kind: 'there' }
  const from = /^ref: refs\/heads\/(.*)$/.exec(now)?.[1] ?? 'no branch'
  const base = since?.head ?? null
  const isPointed = wasPointed(repository.gitDir, since?.reflog ?? 0, from === 'no branch' ? null : from)
  const [head, tip] = [await headOf(place), await commitAt(git, ref)]
  const left = tip ?? base
  if (isPointed && tip !== null && !hasCommitted(repository.gitDir, since?.reflog ?? 0)) {
    await git.run(['symbolic-ref', '-m', 'oneshot: back to the branch', 'HEAD', ref])
    return { kind: 'pointed', from }
  }
  if (!isPointed && head !== null && (left === null || (await isIn(git, left, head)))) {
    const move = [ref, head, tip ?? repository.nothing.commit]
    await git.run(['update-ref', '-m', 'oneshot: work of another branch', ...move])
    await git.run(['symbolic-ref', '-m', 'oneshot: back to the branch', 'HEAD', ref])
    return { kind: 'followed', from }
  }
  if (tip === null && base !== null) await git.run(['update-ref', '-m', 'oneshot: the branch was gone', ref, base])
  const answer = await git.ask(['checkout', '--quiet', '--no-guess', branch, '--'])
  if (answer.code === 0) return { kind: 'returned', from, head }
  return { kind: 'stuck', from, why: new GitFailed('checkout', answer).message }
}

/** Whether HEAD moved otherwise than by `git symbolic-ref`, which leaves at most an entry without a message. */
function hasCommitted(gitDir: string, since: number): boolean {
  return movesSince(gitDir, since)?.some(({ message }) => message !== '') === true
}

/** Read from files where that is possible: to start git takes longer. */
export async function headNow({ git, repository }: Place): Promise<Head> {
  const { gitDir, commonDir } = repository
  const reflog = reflogSize(gitDir)
  const said = readIfThere(path.join(gitDir, 'HEAD'))?.trim() ?? ''
  const ref = /^ref: (refs\/heads\/(?!.*\.\.).+)$/.exec(said)?.[1]
  const loose = ref === undefined ? said : readIfThere(path.join(commonDir, ref))?.trim()
  if (ref !== 'refs/heads/.invalid' && loose !== undefined && HASH.test(loose))
    return { commit: loose, branch: ref?.slice('refs/heads/'.length) ?? null, reflog }
  const { stdout } = await git.ask(['rev-parse', '--verify', '--quiet', 'HEAD'])
  const branch = await git.ask(['symbolic-ref', '--quiet', '--short', 'HEAD'])
  return { commit: stdout.toString().trim() || null, branch: branch.stdout.toString().trim() || null, reflog }
}

const HASH = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/

function readIfThere(file: string): string | undefined {
  try {
    return readPart(file, 0, 4_096).toString()
  } catch {
    return undefined // Packed, or gone.
  }
}
