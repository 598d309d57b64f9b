import type { Bench } from '../../../../ports/workshop.ts'
import { headOf } from '../../head.ts'
import { OURS } from '../../identity.ts'
import type { Place } from '../../place.ts'
import { UPDATE_REF } from '../../ref.ts'
import { lookNow } from '../look-now.ts'
import { settle } from './merge.ts'
import { refuse } from '../notes.ts'
import { commitAt, keptRef } from '../shop.ts'

/** Moves a branch to a commit, files included. What nothing else leads to any more is kept by a ref first. */
export async function rewind(place: Place, { branch }: Bench, to: string): Promise<void> {
  const { git } = place
  await settle(place)
  const ref = `refs/heads/${branch}`
  const target = (await commitAt(git, to)) ?? refuse(`rewinding ${branch}`, `there is no commit ${to}`)
  await keep(place, branch, target)
  await git.ask(['rebase', '--quit']) // It says no when there is none.
  await git.run(['symbolic-ref', 'HEAD', ref])
  await git.run(['reset', '--quiet', '--hard', target])
  await git.run(['clean', '--quiet', '-f', '-d'])
}

/** One ref for each branch, whose commits have what was there before as their parents. */
async function keep(place: Place, branch: string, target: string): Promise<void> {
  const { git } = place
  const kept = keptRef(branch)
  const [head, tip] = [await headOf(place), await commitAt(git, `refs/heads/${branch}`)]
  const { tree } = await lookNow(place)
  const heads = [...new Set([head, tip].filter(commit => commit !== null))]
  // git counts what is left out of branches from where branches lie.
  const others = [`--exclude=${branch}`, '--branches', '--remotes', '--tags']
  const lost = await git.line(['rev-list', '--max-count=1', ...heads, '--not', target, ...others, `--glob=${kept}`])
  const isDirty = head !== null && tree !== (await git.line(['rev-parse', `${head}^{tree}`]))
  if (lost === '' && !isDirty) return
  const before = await commitAt(git, kept)
  const parents = [...heads, ...(before === null ? [] : [before])].flatMap(parent => ['-p', parent])
  const input = `oneshot: what was on ${branch} before it went back to ${target}`
  const commit = await git.line(['commit-tree', tree, ...parents], { input, env: OURS })
  await git.run([...UPDATE_REF, kept, commit])
}
