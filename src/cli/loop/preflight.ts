import path from 'node:path'
import type { ListView, LoopRequest, PreflightView } from '../../api/contract/loop-view.ts'
import { refusal } from '../../api/contract/problems.ts'
import { isRefusal } from '../../lib/errors.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { OPTIONS } from '../args/options.ts'
import fs from 'node:fs'
import { literalGlob } from '../../lib/text/glob.ts'

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

/** Returns the check that must pass: the one on the line, else the project's test command. */
export function chooseCheck(args: ParsedArgs, { check }: PreflightView): LoopRequest['check'] {
  const given = args.value(OPTIONS.verify)
  if (given !== undefined) return { line: given, why: 'as you said' }
  return args.has(OPTIONS.noVerify) ? null : check
}

/** Returns the path of the list, relative to the working directory. */
export function resolveListFile(args: ParsedArgs, word: string | undefined, cwd: string): string | null {
  const option = args.value(OPTIONS.prd)
  if (option !== undefined && word !== undefined)
    throw refusal('usage', 'there are two lists: an argument and --prd', 'give one of them')
  const file = option ?? word
  return file === undefined ? null : path.relative(cwd, path.resolve(cwd, file))
}

/** Patterns of files that must not change, and of files that a task may weaken, relative to the working directory. */
export interface GuardedPaths {
  readonly protect: readonly string[]
  readonly allow: readonly string[]
}

export function parseGuardedPaths(args: ParsedArgs, cwd: string): GuardedPaths {
  return {
    protect: args.values(OPTIONS.protect).map(word => toPattern(word, cwd)),
    allow: args.values(OPTIONS.allow).map(word => toPattern(word, cwd)),
  }
}

/** The path of an existing file means exactly that file, even with glob characters in its name. */
function toPattern(word: string, cwd: string): string {
  const real = fs.realpathSync(cwd)
  const absolute = path.resolve(cwd, word)
  const relative =
    absolute.startsWith(`${cwd}/`) || absolute === cwd ? path.relative(cwd, absolute) : path.relative(real, absolute)
  const pattern = relative === '' ? '.' : relative
  const isThere = fs.lstatSync(path.join(cwd, pattern), { throwIfNoEntry: false }) !== undefined
  return isThere ? literalGlob(pattern) : pattern
}
