import { sessionArgument } from '../args/command.ts'
import type { Command } from '../args/command.ts'
import { OPTIONS } from '../args/options.ts'

export const LIST: Command = {
  name: 'list',
  aliases: ['ls', 'ps'],
  group: 'Look',
  summary: 'list all sessions, live ones first',
  about: `The sessions that a loop has started are listed below it while they live; with --all
those that have ended, too. With --json every session is printed. Sessions that share
a name are shown with their ids, which every command takes instead of a name.`,
  arguments: [],
  options: [
    OPTIONS.all,
    OPTIONS.live,
    OPTIONS.here,
    OPTIONS.state,
    OPTIONS.watchList,
    OPTIONS.output,
    OPTIONS.noHeaders,
    OPTIONS.noTrunc,
    OPTIONS.json,
  ],
  examples: [
    { argv: ['list'], description: 'all of them' },
    { argv: ['list', '--here', '--live'], description: 'live sessions of this directory' },
    { argv: ['list', '-q', '--live'], description: 'names only, for scripts' },
    { argv: ['list', '--state', 'failed'], description: 'only those that failed' },
    { argv: ['list', '--json'], description: 'everything that is known, as an array' },
  ],
}

export const STATUS: Command = {
  name: 'status',
  group: 'Look',
  summary: 'show how a session is doing, and why',
  arguments: [sessionArgument('sessions')],
  options: [OPTIONS.field, OPTIONS.exitStatus, OPTIONS.json],
  examples: [
    { argv: ['status', 'fix-auth', '--field', 'pid'], description: 'one value, for scripts' },
    { argv: ['status'], description: 'this directory’s most recent session' },
    { argv: ['status', 'fix-auth', '--json'], description: 'one object' },
  ],
}

export const EVENTS: Command = {
  name: 'events',
  group: 'Look',
  summary: 'show everything that happened to a session, in order, with the evidence',
  about: `Shows each attempt, how it ended and why, each wait and each message that was read. With
--follow it shows events as they happen, until the session has ended; with --json as
well, one object a line.`,
  arguments: [sessionArgument('sessions')],
  options: [OPTIONS.lines, OPTIONS.follow, OPTIONS.json],
  examples: [
    { argv: ['events', 'fix-auth'], description: 'why it is as it is' },
    { argv: ['events', 'fix-auth', '--follow'], description: 'and what happens next' },
  ],
}

export const DEBUG: Command = {
  name: 'debug',
  group: 'Look',
  summary: 'print the stored state of a session for a bug report',
  about: `Prints the session’s record, the effects that wait in the outbox, its files with sizes and
the records of its shims, and the last events (50 unless --lines says otherwise). It
prints no prompt, no output and no environment, and hides secrets that it recognises;
titles, paths and reasons are in it, so read it before you publish it.`,
  arguments: [sessionArgument('sessions')],
  options: [OPTIONS.lines, OPTIONS.json],
  examples: [
    { argv: ['debug', 'fix-auth'], description: 'everything that a bug report needs' },
    { argv: ['debug', 'fix-auth', '--json'], shell: '> report.json', description: 'the same for a program' },
  ],
}

export const MESSAGES: Command = {
  name: 'messages',
  group: 'Look',
  summary: 'show the messages of a session, and which of them the agent has read',
  about: `Accepted: the message is on disk. Delivered: an attempt was started with it. Confirmed:
it is in the agent’s own record of the conversation. Number 1 is the prompt.`,
  arguments: [sessionArgument('agents', 'else this directory’s latest that has an agent')],
  options: [OPTIONS.full, OPTIONS.noHeaders, OPTIONS.noTrunc, OPTIONS.json],
  examples: [
    { argv: ['messages', 'fix-auth'], description: 'all of them' },
    { argv: ['messages', 'fix-auth', '--full', '2'], description: 'one of them, as it was sent' },
  ],
}

const LOG_OPTIONS = [OPTIONS.lines, OPTIONS.tail, OPTIONS.since, OPTIONS.raw, OPTIONS.attempt] as const

export const LOG: Command = {
  name: 'log',
  aliases: ['logs'],
  group: 'Look',
  summary: 'show what a session wrote',
  about: 'Of a full-screen program such as an editor it shows the last screen; to watch it: oneshot attach.',
  arguments: [sessionArgument('sessions')],
  options: [...LOG_OPTIONS, OPTIONS.follow],
  examples: [
    { argv: ['log', 'fix-auth', '-n', '50'], description: 'the last 50 lines' },
    { argv: ['log', '--since', '10m'], description: 'the last ten minutes' },
    { argv: ['log', 'fix-auth', '--raw'], shell: '> output.bin', description: 'every byte as it was written' },
  ],
}

export const FOLLOW: Command = {
  name: 'follow',
  group: 'Look',
  summary: 'show what a session writes until it has ended',
  about: 'The same as oneshot log --follow. Ctrl-C ends this command, never the work.',
  arguments: [sessionArgument('live')],
  options: [...LOG_OPTIONS, OPTIONS.exitStatus],
  examples: [
    { argv: ['follow'], description: 'this directory’s most recent session' },
    { argv: ['follow', 'fix-auth', '-n', '20'], description: 'start with its last 20 lines' },
  ],
}

export const VERIFY: Command = {
  name: 'verify',
  group: 'Look',
  summary: 'check whether the work of a session is proven',
  about: `Looks at what git shows since the session began (commits, files, uncommitted changes), how
the session ended, what it said, and whether the project passes its own check: npm test,
pytest, cargo test, go test or make test. The command names the check before it runs it,
in the session’s directory. Exits with 0 when the work is proven, with 1 when it is
refuted, with 3 when it is neither.`,
  arguments: [sessionArgument('sessions')],
  options: [OPTIONS.checkLine, OPTIONS.noCheck, OPTIONS.checkLimit, OPTIONS.json],
  examples: [
    { argv: ['verify'], description: 'this directory’s most recent session' },
    { argv: ['verify', 'fix-auth', '--check', 'npm run lint && npm test'], description: 'by a check of your own' },
    { argv: ['verify', 'fix-auth', '--no-check', '--json'], description: 'only what git and its record show' },
  ],
}
