import { refusal } from '../../api/contract/problems.ts'
import type { CheckpointView, RestoredView } from '../../api/contract/responses.ts'
import { formatCommandLine } from '../../lib/text/shell-words.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { readCheckpoints } from '../../views/checkpoints.ts'
import { ensureDaemon } from '../daemon/start-and-stop-daemon.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { refuseWhileRunning, type CheckpointOwner, findOwner } from '../checkpoints/find-checkpoint-owner.ts'
import { confirmDefaultNo } from '../terminal/confirm.ts'
import { toJson } from '../terminal/format.ts'
import { relativeTime } from '../terminal/format.ts'
import { isCheckpointReference, selectCheckpoint } from '../checkpoints/select-checkpoint.ts'
import { type Command, type CommandContext, resolvePath } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { checkpointArgument } from '../args/command-definition.ts'

export const command: Command = {
  name: 'restore',
  group: 'Keep',
  order: 40,
  summary: 'restore a checkpoint: onto a new branch, into a new worktree, or here',
  about: `NAME@7 is checkpoint 7 of a session, NAME its newest, 7 alone one of this directory’s
most recent session. NAME@first, NAME@last and NAME@1a2b3c4, seven characters or more of
a commit that oneshot checkpoints shows, name one, too.

Without --here your working tree stays as it is. With --here oneshot saves the present
files first, then writes and removes files until they are as they were; ignored files,
your index and your branch stay.

The session itself may be gone: restore also works after oneshot clean, and with --from
REMOTE in a fresh clone.`,
  arguments: [
    { ...checkpointArgument('CHECKPOINT', 'NAME@N, NAME@first, NAME@last, NAME@COMMIT, NAME or N'), isRequired: true },
  ],
  options: [OPTIONS.branch, OPTIONS.worktree, OPTIONS.restoreHere, OPTIONS.from, OPTIONS.yes, OPTIONS.json],
  examples: [
    { argv: ['restore', 'fix-auth@7'], description: 'onto the branch oneshot/fix-auth-7' },
    { argv: ['restore', 'fix-auth@7', '--worktree', '../before'], description: 'to look at beside the present' },
    { argv: ['restore', 'fix-auth', '--from', 'origin'], description: 'in a fresh clone, from what was pushed' },
    { argv: ['restore', 'fix-auth@1', '--here'], description: 'undo all that the session did' },
  ],
  run: restore,
}

async function restore(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { home, screen } = context
  const { out } = screen
  const isHere = args.has(OPTIONS.restoreHere)
  if (isHere && (args.has(OPTIONS.branch) || args.has(OPTIONS.worktree)))
    throw refusal('usage', '--here cannot be combined with --branch or --worktree', 'leave out one of them')
  const { name, word: reference } = parseReference(args.positionals[0] ?? '')
  const owner = await findOwner(name, args.value(OPTIONS.from), context)
  const checkpoint = selectCheckpoint(await readCheckpoints(home, owner), reference, owner)
  if (isHere) refuseWhileRunning(owner.cwd, context)
  if (isHere && !(await confirmReplace(args, context, owner, checkpoint))) {
    screen.err.printLine('nothing was changed')
    return 1
  }
  const restored = await requestRestore(owner, checkpoint, args, context)
  if (args.has(OPTIONS.json)) out.printLine(toJson(restored))
  else if (screen.isQuiet || !out.isTerminal) out.printLine(restored.worktree ?? restored.branch ?? owner.cwd)
  else for (const text of describeRestored(owner, restored)) out.printLine(text)
  for (const text of restored.missing) screen.err.printLine(`not restored: ${toOneLine(text)}`)
  return 0
}

/** Parses `NAME@7`, `NAME` or `7`. */
function parseReference(text: string): { name: string | undefined; word: string } {
  const [, name, number] = /^(.+)@([^@]+)$/.exec(text) ?? []
  if (name !== undefined && number !== undefined) return { name, word: number }
  return isCheckpointReference(text) ? { name: undefined, word: text } : { name: text, word: 'last' }
}

async function requestRestore(
  { id, name, cwd, isLocal }: CheckpointOwner,
  { number }: CheckpointView,
  args: ParsedArgs,
  context: CommandContext,
): Promise<RestoredView> {
  const branch = args.value(OPTIONS.branch)
  const worktree = args.value(OPTIONS.worktree)
  const request = {
    checkpoint: number,
    ...(args.has(OPTIONS.restoreHere) && { here: true as const }),
    ...(branch !== undefined && { branch }),
    ...(worktree !== undefined && { worktree: resolvePath(context, worktree) }),
  }
  const client = await ensureDaemon(context)
  if (isLocal) return client.restore(id, request)
  return client.restoreSavedSession({ ...request, sessionId: id, name, cwd, umask: context.host.umask() })
}

async function confirmReplace(
  args: ParsedArgs,
  { screen }: CommandContext,
  { cwd }: CheckpointOwner,
  { number, at }: CheckpointView,
): Promise<boolean> {
  if (args.has(OPTIONS.yes)) return true
  const what = `this would restore the files in ${cwd} to checkpoint ${number}`
  if (!screen.mayAsk) throw refusal('needs-yes', what, 'add --yes; oneshot saves the present files first')
  return await confirmDefaultNo(
    `${what}, ${relativeTime(at, Date.now())}. oneshot saves the present files first. Continue?`,
    screen,
  )
}

function describeRestored({ name, cwd, isLocal }: CheckpointOwner, restored: RestoredView): string[] {
  const { checkpoint, branch, worktree, before } = restored
  const { number } = checkpoint
  const what = `checkpoint ${number} of ${name}`
  if (worktree !== null) return [`${what} is in ${worktree}, on branch ${branch}`]
  if (branch !== null)
    return [`${what} is on branch ${branch}`, ...compareCommands(branch, isLocal ? `${name} ${number}` : null)]
  if (restored.files === 0) return [`nothing to do: the files in ${cwd} are those of ${what} already`]
  const sessionName = isLocal ? name : `${name}-before`
  const undo = before === null ? [] : [`  to undo this: oneshot restore ${sessionName}@${before.number} --here`]
  return [`${what} is in ${cwd}`, ...undo]
}

function compareCommands(branch: string, which: string | null): string[] {
  const diff = which === null ? formatCommandLine(['git', 'diff', 'HEAD', branch]) : `oneshot diff ${which} now`
  return [
    `  compare it with the present files: ${diff}`,
    `  check it out in a folder of its own: ${formatCommandLine(['git', 'worktree', 'add', 'DIR', branch])}`,
  ]
}
