import { sessionArgument } from './arguments.ts'
import type { Command } from './command.ts'
import { text } from './kinds.ts'
import { OPTIONS } from './options.ts'

export const SEND: Command = {
  name: 'send',
  group: 'Work',
  summary: 'give a session’s agent something more to read',
  about: `The message is on disk when this returns, and is never lost or read twice. The agent
reads it in its own conversation as soon as its current turn is over. A session that
has ended is woken by it. Piped, only the message’s number is printed.

With one argument, that is the text, for this directory’s most recent session.`,
  arguments: [
    sessionArgument('agents', 'else this directory’s latest that has an agent'),
    { kind: text('TEXT'), summary: 'what it is to read; - reads it from stdin' },
  ],
  options: [OPTIONS.file, OPTIONS.follow, OPTIONS.json],
  examples: [
    { argv: ['send', 'now add tests'], says: 'to this directory’s most recent session' },
    { argv: ['send', 'fix-auth', 'leave the schema as it is'], says: 'to a certain one' },
    { argv: ['send', 'fix-auth', '--file', 'review.md'], says: 'from a file' },
    { argv: ['send', 'fix-auth', '-', '--follow'], shell: '< review.md', says: 'from stdin, and see what it does' },
  ],
  excessHint: 'quote the text: oneshot send fix-auth "now add tests"',
}

export const TASK_ACTIONS = ['add', 'done', 'doing', 'open'] as const

export const TASKS: Command = {
  name: 'tasks',
  group: 'Work',
  summary: 'show the pieces of a session’s work, name them, tick them off',
  about: `An agent’s own plan is shown as it keeps it. What you add stays beside it, and is told to
the agent should it have to begin a fresh conversation. Within a session it is that
session’s list, so that an agent can keep it, too. Where the project uses beads, what is
ready there is shown as well, and an issue is closed once a task is done that has its id
or carries it in its title.`,
  arguments: [
    sessionArgument('task-words', 'else the one we are in, or this directory’s latest'),
    { kind: { ...text('ACTION'), choices: TASK_ACTIONS }, summary: `${TASK_ACTIONS.join(', ')}; a list unless given` },
    { kind: text('WORD'), summary: 'the title of what is added; else the ids it is about', isRepeated: true },
  ],
  options: [OPTIONS.noHeaders, OPTIONS.noTrunc, OPTIONS.json],
  examples: [
    { argv: ['tasks'], says: 'the list of this directory’s most recent session' },
    { argv: ['tasks', 'fix-auth', 'add', 'write the tests'], says: 'one more; its id is printed' },
    { argv: ['tasks', 'fix-auth', 'done', 'u1'], says: 'tick it off' },
    { argv: ['tasks', 'done', 'bd-a1b2'], says: 'by an agent, in its own session; closes the issue, too' },
  ],
}

export const RESUME: Command = {
  name: 'resume',
  group: 'Work',
  summary: 'go on with a session that was stopped, failed, rests or waits for you',
  about: `The agent resumes its own conversation where it was broken off; messages it has not
read come next. Its time and its budget are counted anew. It keeps the environment it
was started with, apart from what --env changes. To give more to do to a session that
is done, send it a message.

What was found and what is done about it is told first; --dry-run tells no more than
that. Where a conversation cannot be gone on with, a fresh one is told the task, what
git shows, what was planned and what was said last.

On another machine, in a clone of the repository that checkpoints were pushed to,
--from REMOTE fetches them and goes on with the session there.`,
  arguments: [sessionArgument('resumable', 'else this directory’s latest that can go on')],
  options: [OPTIONS.renew, OPTIONS.moved, OPTIONS.from, OPTIONS.dryRun, OPTIONS.follow, OPTIONS.json],
  examples: [
    { argv: ['resume'], says: 'this directory’s most recent one that can go on' },
    { argv: ['resume', 'fix-auth', '--follow'], says: 'and see what it does' },
    { argv: ['resume', 'fix-auth', '--dry-run'], says: 'what there is, and what would be done' },
    { argv: ['resume', 'fix-auth', '--from', 'origin'], says: 'in a fresh clone, on another machine' },
    { argv: ['resume', 'fix-auth', '--env', 'ANTHROPIC_API_KEY'], says: 'with the key that is set here now' },
  ],
}

export const HOLD: Command = {
  name: 'hold',
  group: 'Work',
  summary: 'have a session stand still until you resume it',
  about: `What lives of it is ended as with stop, but the session stays: messages wait with it,
its time does not run, and no reboot and no supervisor starts it again. oneshot resume
goes on where it was.`,
  arguments: [sessionArgument('live')],
  options: [OPTIONS.json],
  examples: [{ argv: ['hold', 'fix-auth'], says: 'keep it still over the weekend' }],
}
