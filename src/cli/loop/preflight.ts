import type { ListView, PreflightView } from '../../api/contract/loop-view.ts'
import { refusal } from '../../api/contract/problems.ts'
import { isRefusal } from '../../lib/errors.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { OPTIONS } from '../args/options.ts'

/** Returns the task list, and refuses a list without open tasks. */
export function requireOpenTasks(args: ParsedArgs, { list }: PreflightView): ListView {
  if (isRefusal(list)) throw list
  const { tasks, objections } = list
  const name = list.file ?? 'beads'
  if (tasks.length === 0)
    throw refusal(
      'no-tasks',
      objections[0] ?? `there is no task in ${name}`,
      'write “- [ ] what is to be done” for each',
    )
  const requestedTask = args.value(OPTIONS.task)
  const selected = requestedTask === undefined ? tasks : tasks.filter(({ id }) => id === requestedTask)
  if (selected.length === 0)
    throw refusal('no-task', `there is no task ${requestedTask} in ${name}`, `its tasks are ${listTaskIds(list)}`)
  if (selected.every(({ isDone }) => isDone)) {
    const what = requestedTask === undefined ? 'every task' : `task ${requestedTask}`
    throw refusal('no-tasks', `${what} in ${name} is ticked already`, 'open a box again: - [ ]')
  }
  return list
}

function listTaskIds({ tasks }: ListView): string {
  const ids = tasks.map(({ id }) => id)
  return ids.length > 8 ? `${ids.slice(0, 3).join(', ')} … ${ids.at(-1)}` : ids.join(', ')
}

/** Only git shows the changes, and a worktree begins at a commit. */
export function assertRepository(args: ParsedArgs, cwd: string, { repository }: PreflightView): void {
  if (repository === null)
    throw refusal(
      'no-repository',
      `${cwd} is not a git repository, and a loop needs git to see what its agents change`,
      'git init',
    )
  if (args.has(OPTIONS.parallel) && !repository.hasCommit)
    throw refusal(
      'no-repository',
      'the repository has no commit yet, and worktrees need one',
      'git add . && git commit',
    )
}
