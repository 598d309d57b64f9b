import { sessionArgument } from './arguments.ts'
import type { Command } from './command.ts'
import { text } from './kinds.ts'
import { OPTIONS } from './options.ts'

export const RUN: Command = {
  name: 'run',
  group: 'Work',
  summary: 'start work that outlives this terminal',
  about: `With a prompt, an agent works on it, and what follows -- is handed to the agent
unchanged. Without a prompt, what follows -- is the command to run.

The agent is the one named by --agent, else by ONESHOT_AGENT or a config file,
else the first one found on PATH. A prompt never passes through a shell.

An agent works without asking: it may change any file and run any command. With
--autonomy edits it may change files, with --autonomy ask only look. Budgets and turns
are counted over all attempts of the session.

An agent that dies is restarted in its own conversation: at once, then after 2 s,
doubling to 64 s; after ten restarts in ten minutes it gives up. One that shows no sign
of life (no output, no CPU in any of its processes, no open tool call) counts as dead. A
command is started again only with --restart on-failure. The pauses are config keys
(oneshot help config), and -c restart-window=1h sets one for this session.

In a git repository the working tree is saved when it begins, after edits, every five
minutes and when it ends, without touching your branch or index: oneshot checkpoints.

What --on-exit names is run whenever the session has ended, however it has. All about
it is in its environment (ONESHOT_OUTCOME and others) and, as JSON, on its stdin.

It returns at once. Piped, it prints only the session's name.`,
  arguments: [{ kind: text('PROMPT'), summary: 'what the agent is to do; - reads it from stdin' }],
  rest: { placeholder: 'ARGV...', summary: 'a command, or after a prompt the agent’s own arguments' },
  options: [
    OPTIONS.agent,
    OPTIONS.name,
    OPTIONS.cwd,
    OPTIONS.promptFile,
    OPTIONS.tty,
    OPTIONS.headless,
    OPTIONS.env,
    OPTIONS.autonomy,
    OPTIONS.model,
    OPTIONS.effort,
    OPTIONS.maxTime,
    OPTIONS.restart,
    OPTIONS.maxRestarts,
    OPTIONS.silence,
    OPTIONS.limitWait,
    OPTIONS.memory,
    OPTIONS.checkpoints,
    OPTIONS.push,
    OPTIONS.maxTurns,
    OPTIONS.budgetUsd,
    OPTIONS.budgetTokens,
    OPTIONS.thread,
    OPTIONS.verify,
    OPTIONS.verifyGit,
    OPTIONS.onExit,
    OPTIONS.onExitShell,
    OPTIONS.follow,
    OPTIONS.json,
  ],
  examples: [
    { argv: ['run', 'fix the flaky login test'], says: 'give a prompt to your agent' },
    { argv: ['run', '--', 'pytest', 'tests/', '-v'], says: 'run any command' },
    {
      argv: ['run', '--agent', 'codex', '--name', 'fix-auth', '--prompt-file', 'task.md'],
      says: 'choose agent and name',
    },
    {
      argv: ['run', '--autonomy', 'edits', '--budget-usd', '5', 'tidy the docs'],
      says: 'files only, and for five dollars at most',
    },
    {
      argv: ['run', '--restart', 'on-failure', '--max-restarts', '3', '--', './deploy.sh'],
      says: 'try a command again when it fails, three times at most',
    },
    { argv: ['run', 'tidy the docs', '--', '--add-dir', '../api'], says: 'hand arguments to the agent' },
    { argv: ['run', '--on-exit', 'make deploy', 'fix the build'], says: 'run something when it has ended' },
    { argv: ['run', '-'], shell: '< task.md', says: 'read the prompt from stdin' },
    { argv: ['run', '--agent', 'demo', 'show me'], says: 'try it without an account' },
  ],
  excessHint: 'quote a prompt: oneshot run "fix the bug"; put a command after --: oneshot run -- pytest tests/',
}

export const ATTACH: Command = {
  name: 'attach',
  group: 'Work',
  summary: 'enter a session’s terminal',
  about: `Leave it again with Ctrl-b d; the work goes on. It works inside another tmux, too:
there the keys are Ctrl-b Ctrl-b d. A loop has a window for its own log and one for each
who works for it: Ctrl-b n and p move among them, Ctrl-b w lists them.`,
  arguments: [sessionArgument('live')],
  options: [OPTIONS.readOnly],
  examples: [
    { argv: ['attach'], says: 'this directory’s most recent session' },
    { argv: ['attach', 'fix-auth', '--read-only'], says: 'look without typing' },
  ],
}

export const STOP: Command = {
  name: 'stop',
  group: 'Work',
  summary: 'stop a session and everything it started',
  about: `It is interrupted first, then terminated, then killed, with its whole process tree.
What it wrote is kept: see oneshot log.`,
  arguments: [sessionArgument('live')],
  options: [OPTIONS.noWait, OPTIONS.timeout, OPTIONS.json],
  examples: [
    { argv: ['stop', 'fix-auth'], says: 'stop it and wait until nothing of it is left' },
    { argv: ['stop', 'fix-auth', '--no-wait'], says: 'only ask for it' },
  ],
}

export const KILLALL: Command = {
  name: 'killall',
  group: 'Work',
  summary: 'stop all sessions',
  arguments: [],
  options: [OPTIONS.yes, OPTIONS.timeout, OPTIONS.json],
  examples: [
    { argv: ['killall'], says: 'list them and ask' },
    { argv: ['killall', '--yes'], says: 'from a script' },
  ],
}

export const WAIT: Command = {
  name: 'wait',
  group: 'Work',
  summary: 'wait until sessions have ended, and pass their outcome on',
  about: `Exits with 0 when the work is done, otherwise with the program's exit code, 128 plus
the signal's number, or 1. With several names the first that is not 0 counts.
Ctrl-C ends the waiting, never the work.`,
  arguments: [{ ...sessionArgument('sessions'), isRepeated: true }],
  options: [OPTIONS.timeout, OPTIONS.json],
  examples: [
    { argv: ['wait', 'fix-auth'], shell: '&& git push', says: 'go on only when it is done' },
    { argv: ['wait', 'fix-auth', 'docs', '--timeout', '2h'], says: 'wait for two, but not for ever' },
  ],
}

export const CLEAN: Command = {
  name: 'clean',
  group: 'Work',
  summary: 'remove ended sessions with all their files',
  about: `Sessions that have not ended are never touched. What was saved of them stays in git
unless --checkpoints is given.`,
  arguments: [
    { ...sessionArgument('ended'), isRepeated: true, summary: 'the sessions to remove; all ended ones unless given' },
  ],
  options: [OPTIONS.olderThan, OPTIONS.dropCheckpoints, OPTIONS.dryRun, OPTIONS.yes, OPTIONS.json],
  examples: [
    { argv: ['clean', '--older-than', '7d', '--dry-run'], says: 'see what would go' },
    { argv: ['clean', '--yes'], says: 'remove all ended sessions without a question' },
    { argv: ['clean', 'fix-auth'], says: 'remove one' },
  ],
}
