import { rawPath } from '../../../../lib/raw-path.ts'
import type { Bench } from '../../../../ports/workshop.ts'
import { GitFailed } from '../../git-failed.ts'
import type { Place } from '../../place.ts'
import { underWay } from '../../under-way.ts'
import { lookNow } from '../look-now.ts'
import { mergingIn, refuse } from '../notes.ts'
import { commitAt, keptRef, objectsAt } from '../shop.ts'
import { changesOf } from '../tree-without.ts'
import { keep } from './kept.ts'
import { settle } from './merge.ts'
import { assertSpared, sweep } from './sweep.ts'

/** Moves a branch to a commit, files included. What nothing else leads to any more is kept by a ref first. */
export async function rewind(place: Place, { branch }: Bench, to: string): Promise<void> {
  const doing = `rewinding ${branch}`
  if (await isThere(place, branch, to)) return
  await settle(place)
  const target = (await commitAt(place.git, to)) ?? refuse(doing, `there is no commit ${to}`)
  const sight = await lookNow(place)
  await assertSpared(place, sight, { target, doing })
  await keepLost(place, { branch, target, tree: sight.tree })
  const answer = await place.git.script(GO_BACK, [`refs/heads/${branch}`, target])
  if (answer.code !== 0) throw new GitFailed('reset', answer)
  // Only what is kept may go: nothing that was left out, or was made meanwhile.
  const added = (await changesOf(place, target, sight.tree)).filter(({ before }) => before === null)
  const kept = new Set(added.map(entry => entry.path))
  if (kept.size > 0) await sweep(place, file => kept.has(file))
}

/** git says no where there is no rebase. */
const GO_BACK = `
git rebase --quit 2>/dev/null
git symbolic-ref HEAD "$1" || exit
git reset --quiet --hard "$2"
`

/** Whether the branch is at that commit, checked out, and there is nothing besides. */
async function isThere(place: Place, branch: string, to: string): Promise<boolean> {
  if (underWay(place.repository.gitDir) !== null || mergingIn(place).read() !== null) return false
  const { code, stdout } = await place.git.script(WHERE, [`refs/heads/${to}^{commit}`, `${to}^{commit}`])
  const [target, ...lines] = rawPath(stdout).split(/[\n\0]/)
  const [oid, head, ...more] = lines.filter(line => line !== '' && !line.startsWith('# branch.upstream'))
  const isThat = oid === `# branch.oid ${target}` && head === `# branch.head ${branch}`
  return code === 0 && isThat && more.every(line => line.startsWith('# branch.'))
}

const WHERE = `
git rev-parse --verify --quiet --end-of-options "$1" || git rev-parse --verify --quiet --end-of-options "$2" || exit
git status --porcelain=v2 --branch -z --no-ahead-behind --untracked-files=normal --no-renames --ignore-submodules=dirty
`

/** Keeps what was not committed, and commits that nothing else leads to. */
async function keepLost(place: Place, going: { branch: string; target: string; tree: string }): Promise<void> {
  const { git } = place
  const { branch, target, tree } = going
  const names = ['HEAD^{commit}', `refs/heads/${branch}`, 'HEAD^{tree}', keptRef(branch)]
  const [head = null, tip = null, whole, before = null] = await objectsAt(git, names)
  const heads = [...new Set([head, tip].filter(commit => commit !== null))]
  // git counts what is left out of branches from where branches lie.
  const others = [`--exclude=${branch}`, '--branches', '--remotes', '--tags', `--glob=${keptRef(branch)}`]
  const lost = await git.line(['rev-list', '--max-count=1', ...heads, '--not', target, ...others])
  const isDirty = head !== null && tree !== whole
  if (lost !== '' || isDirty) await keep(place, { ...going, heads, before })
}
