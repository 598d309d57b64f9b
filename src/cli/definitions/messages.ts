import { sessionArgument } from '../args/command.ts'
import type { Command } from '../args/command.ts'
import { textType } from '../args/value-types.ts'
import { OPTIONS } from '../args/options.ts'

export const SEND: Command = {
  name: 'send',
  group: 'Work',
  summary: 'send the agent a message',
  about: `The message is on disk when this returns, and is never lost or read twice. The agent
reads it in its own conversation as soon as its current turn is over. A message to a
session that has ended starts it again. Piped, only the message’s number is printed.

With one argument, the argument is the text, for this directory’s most recent session.`,
  arguments: [
    sessionArgument('agents', 'else this directory’s latest that has an agent'),
    { valueType: textType('TEXT'), summary: 'the message; - reads it from stdin' },
  ],
  options: [OPTIONS.file, OPTIONS.follow, OPTIONS.json],
  examples: [
    { argv: ['send', 'now add tests'], description: 'to this directory’s most recent session' },
    { argv: ['send', 'fix-auth', 'leave the schema as it is'], description: 'to a certain one' },
    { argv: ['send', 'fix-auth', '--file', 'review.md'], description: 'from a file' },
    {
      argv: ['send', 'fix-auth', '-', '--follow'],
      shell: '< review.md',
      description: 'from stdin, and see what it does',
    },
  ],
  excessHint: 'quote the text: oneshot send fix-auth "now add tests"',
}

export const TASK_ACTIONS = ['add', 'done', 'doing', 'open'] as const

export const TASKS: Command = {
  name: 'tasks',
  group: 'Work',
  summary: 'show and change the task list of a session',
  about: `The list holds the agent’s own plan and the tasks that you add. If the agent has to begin
a new conversation, oneshot gives it the open tasks. Inside a session the command works on
that session’s list, so an agent can use it, too. With beads = true in your config it also
shows the issues that are ready, and closes an issue when a task with its id is done.`,
  arguments: [
    sessionArgument('task-words', 'else the one we are in, or this directory’s latest'),
    {
      valueType: { ...textType('ACTION'), choices: TASK_ACTIONS },
      summary: `${TASK_ACTIONS.join(', ')}; a list unless given`,
    },
    { valueType: textType('WORD'), summary: 'add: the title; otherwise the ids of tasks', isRepeated: true },
  ],
  options: [OPTIONS.noHeaders, OPTIONS.noTrunc, OPTIONS.json],
  examples: [
    { argv: ['tasks'], description: 'the list of this directory’s most recent session' },
    { argv: ['tasks', 'fix-auth', 'add', 'write the tests'], description: 'one more; its id is printed' },
    { argv: ['tasks', 'fix-auth', 'done', 'u1'], description: 'tick it off' },
    { argv: ['tasks', 'done', 'bd-a1b2'], description: 'by an agent, in its own session; closes the issue, too' },
  ],
}

export const RESUME: Command = {
  name: 'resume',
  group: 'Work',
  summary: 'continue a session that was stopped, failed, rests or waits for you',
  about: `The agent continues its own conversation where it was interrupted; messages that it has
not read come next. Its time and its budget start again from zero. It keeps the
environment it was started with, except for what --env changes. To give more work to a
session that is done, send it a message.

The command first says what it found and what it will do; --dry-run stops there. If a
conversation cannot be continued, a new one gets the task, what git shows, the plan and
the last words.

On another machine, in a clone of the repository that checkpoints were pushed to,
--from REMOTE fetches them and continues the session there. It shows the agent and the
messages first, and asks you. The session has autonomy ask unless your own configuration
says otherwise. oneshot claims the session on the remote, so that only one machine
continues it; --take-over takes it from a machine that is lost.`,
  arguments: [sessionArgument('resumable', 'else this directory’s latest that can be resumed')],
  options: [
    OPTIONS.envChange,
    OPTIONS.movedTo,
    OPTIONS.from,
    OPTIONS.takeOver,
    OPTIONS.yes,
    OPTIONS.dryRun,
    OPTIONS.follow,
    OPTIONS.json,
  ],
  examples: [
    { argv: ['resume'], description: 'this directory’s most recent one that can be resumed' },
    { argv: ['resume', 'fix-auth', '--follow'], description: 'and see what it does' },
    { argv: ['resume', 'fix-auth', '--dry-run'], description: 'what there is, and what would be done' },
    { argv: ['resume', 'fix-auth', '--from', 'origin'], description: 'in a fresh clone, on another machine' },
    { argv: ['resume', 'fix-auth', '--env', 'ANTHROPIC_API_KEY'], description: 'with the key that is set here now' },
  ],
}

export const HOLD: Command = {
  name: 'hold',
  group: 'Work',
  summary: 'pause a session until you resume it',
  about: `The processes are ended as with stop, but the session does not end: it keeps its
messages, its time limit is paused, and oneshot does not start it again, not even after
a reboot, until you call oneshot resume.`,
  arguments: [sessionArgument('live')],
  options: [OPTIONS.json],
  examples: [{ argv: ['hold', 'fix-auth'], description: 'pause it over the weekend' }],
}
