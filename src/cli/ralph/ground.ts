import path from 'node:path'
import type { GroundView, ListView } from '../../api/contract/loop-view.ts'
import type { LoopRequest } from '../../api/contract/loop-request.ts'
import { refusal } from '../../api/contract/problems.ts'
import { isRefusal } from '../../lib/refusal.ts'
import type { Line } from '../line/line.ts'
import { OPTIONS } from '../table/options.ts'

/** The list that is to be worked off; refuses where there is nothing in it to do. */
export function listFor(line: Line, { list }: GroundView): ListView {
  if (isRefusal(list)) throw list
  const { tasks, objections } = list
  const name = list.file ?? 'beads'
  if (tasks.length === 0)
    throw refusal(
      'no-tasks',
      objections[0] ?? `there is no task in ${name}`,
      'write “- [ ] what is to be done” for each',
    )
  const wanted = line.value(OPTIONS.task)
  const meant = wanted === undefined ? tasks : tasks.filter(({ id }) => id === wanted)
  if (meant.length === 0)
    throw refusal('no-task', `there is no task ${wanted} in ${name}`, `its tasks are ${idsOf(list)}`)
  if (meant.every(({ isDone }) => isDone)) {
    const what = wanted === undefined ? 'every task' : `task ${wanted}`
    throw refusal('no-tasks', `${what} in ${name} is ticked already`, 'open a box again: - [ ]')
  }
  return list
}

function idsOf({ tasks }: ListView): string {
  const ids = tasks.map(({ id }) => id)
  return ids.length > 8 ? `${ids.slice(0, 3).join(', ')} … ${ids.at(-1)}` : ids.join(', ')
}

/** Only git shows what was done, and worktrees begin at a commit. */
export function assertRepository(line: Line, cwd: string, { repository }: GroundView): void {
  if (repository === null)
    throw refusal(
      'no-repository',
      `${cwd} is not a git repository, and a loop needs git to see what its agents change`,
      'git init',
    )
  if (line.has(OPTIONS.parallel) && !repository.hasCommit)
    throw refusal(
      'no-repository',
      'the repository has no commit yet, and worktrees need one',
      'git add . && git commit',
    )
}

/** What must pass: as the line says, else what the project is tested with. */
export function checkFor(line: Line, { check }: GroundView): LoopRequest['check'] {
  const given = line.value(OPTIONS.verify)
  if (given !== undefined) return { line: given, why: 'as you said' }
  return line.has(OPTIONS.noVerify) ? null : check
}

/** The list as it is seen from where the work happens. */
export function listFile(line: Line, word: string | undefined, cwd: string): string | null {
  const option = line.value(OPTIONS.prd)
  if (option !== undefined && word !== undefined)
    throw refusal('usage', 'there are two lists: an argument and --prd', 'give one of them')
  const file = option ?? word
  return file === undefined ? null : path.relative(cwd, path.resolve(cwd, file))
}
