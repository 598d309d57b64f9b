import { sessionArgument } from '../args/command.ts'
import type { Argument, Command } from '../args/command.ts'
import { textType } from '../args/value-types.ts'
import { OPTIONS } from '../args/options.ts'

function checkpointArgument(placeholder: string, summary: string): Argument {
  return { valueType: textType(placeholder), summary }
}

export const CHECKPOINT: Command = {
  name: 'checkpoint',
  group: 'Keep',
  summary: 'save the working tree of a session now',
  about: `The whole working tree is saved in git, untracked files included, ignored ones not,
under refs/oneshot/NAME/ID. Your index, branch, stash and hooks are not touched. When
nothing has changed since the last one, nothing is written.`,
  arguments: [sessionArgument('sessions')],
  options: [OPTIONS.json],
  examples: [{ argv: ['checkpoint', 'fix-auth'], description: 'before you try something' }],
}

export const CHECKPOINTS: Command = {
  name: 'checkpoints',
  group: 'Keep',
  summary: 'list the checkpoints of a session',
  arguments: [sessionArgument('sessions')],
  options: [OPTIONS.lines, OPTIONS.noHeaders, OPTIONS.noTrunc, OPTIONS.json],
  examples: [
    { argv: ['checkpoints', 'fix-auth'], description: 'when, why, and how much had changed' },
    { argv: ['checkpoints', '-n', '5'], description: 'the last five of this directory’s most recent session' },
  ],
}

export const DIFF: Command = {
  name: 'diff',
  group: 'Keep',
  summary: 'show what a session has changed',
  about: `Compares the first checkpoint with the newest unless you name two others: by number, by
first, last or now (now saves the working tree before it compares), or by seven or more
characters of a commit.`,
  arguments: [
    sessionArgument('sessions'),
    checkpointArgument('FROM', 'the one to compare with; first unless given'),
    checkpointArgument('TO', 'the one to compare; last unless given'),
  ],
  options: [OPTIONS.stat, OPTIONS.json],
  examples: [
    { argv: ['diff', 'fix-auth'], description: 'all that it changed' },
    { argv: ['diff', 'fix-auth', '3', '7', '--stat'], description: 'what happened between two checkpoints' },
    { argv: ['diff', 'fix-auth', 'last', 'now'], description: 'what changed since the last one' },
  ],
}

export const RESTORE: Command = {
  name: 'restore',
  group: 'Keep',
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
}
