import { sessionArgument } from '../args/command.ts'
import type { Command } from '../args/command.ts'
import { textType } from '../args/value-types.ts'
import { OPTIONS } from '../args/options.ts'

export const RUN: Command = {
  name: 'run',
  group: 'Work',
  summary: 'start work that outlives this terminal',
  about: `With a prompt, an agent works on it, and arguments after -- go to the agent unchanged.
Without a prompt, -- is followed by the command to run.

The agent is the one named by --agent, else by ONESHOT_AGENT or a config file,
else the first one found on PATH. A prompt never passes through a shell.

An agent works without asking: it may change any file and run any command. With
--autonomy edits it may change files, with --autonomy ask it may only look. Budgets and
turns count over all attempts of the session.

An agent that dies is restarted in its own conversation: at once, then after 2 s,
doubling to 64 s; after ten restarts in ten minutes it gives up. One that shows no sign
of life (no output, no CPU in any of its processes, no open tool call) counts as dead. A
command is started again only with --restart on-failure. The pauses are config keys
(oneshot help config), and -c restart-window=1h sets one for this session.

In a git repository oneshot saves the working tree at the start, after edits, every five
minutes and at the end, without touching your branch or index: see oneshot checkpoints.

The command of --on-exit runs whenever the session has ended, whatever the outcome. Its
environment (ONESHOT_OUTCOME and others) and, as JSON, its stdin describe the session.

run returns at once. Piped, it prints only the session's name.`,
  arguments: [{ valueType: textType('PROMPT'), summary: 'the task for the agent; - reads it from stdin' }],
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
    OPTIONS.maxOutput,
    OPTIONS.checkpoints,
    OPTIONS.push,
    OPTIONS.pushUntracked,
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
    { argv: ['run', 'fix the flaky login test'], description: 'give a prompt to your agent' },
    { argv: ['run', '--', 'pytest', 'tests/', '-v'], description: 'run any command' },
    {
      argv: ['run', '--agent', 'codex', '--name', 'fix-auth', '--prompt-file', 'task.md'],
      description: 'choose agent and name',
    },
    {
      argv: ['run', '--autonomy', 'edits', '--budget-usd', '5', 'tidy the docs'],
      description: 'files only, and for five dollars at most',
    },
    {
      argv: ['run', '--restart', 'on-failure', '--max-restarts', '3', '--', './deploy.sh'],
      description: 'try a command again when it fails, three times at most',
    },
    { argv: ['run', 'tidy the docs', '--', '--add-dir', '../api'], description: 'pass arguments to the agent' },
    { argv: ['run', '--on-exit', 'make deploy', 'fix the build'], description: 'run something when it has ended' },
    { argv: ['run', '-'], shell: '< task.md', description: 'read the prompt from stdin' },
    { argv: ['run', '--agent', 'demo', 'show me'], description: 'try it without an account' },
  ],
  excessHint: 'quote a prompt: oneshot run "fix the bug"; put a command after --: oneshot run -- pytest tests/',
}

export const ATTACH: Command = {
  name: 'attach',
  group: 'Work',
  summary: 'enter a session’s terminal',
  about: `Leave with Ctrl-b d; the work continues. Inside another tmux the keys are Ctrl-b Ctrl-b d.
A loop has one window for its own log and one for each of its agents: Ctrl-b n and p
switch between them, Ctrl-b w lists them.`,
  arguments: [sessionArgument('live')],
  options: [OPTIONS.readOnly],
  examples: [
    { argv: ['attach'], description: 'this directory’s most recent session' },
    { argv: ['attach', 'fix-auth', '--read-only'], description: 'look without typing' },
  ],
}

export const STOP: Command = {
  name: 'stop',
  aliases: ['kill'],
  group: 'Work',
  summary: 'stop sessions and everything they started',
  about: `A session is interrupted first, then terminated, then killed, with its whole process
tree. --now kills it at once. Its output is kept: see oneshot log.`,
  arguments: [{ ...sessionArgument('live'), isRepeated: true }],
  options: [OPTIONS.now, OPTIONS.noWait, OPTIONS.timeout, OPTIONS.json],
  examples: [
    { argv: ['stop', 'fix-auth', 'docs'], description: 'stop two' },
    { argv: ['stop', 'fix-auth'], description: 'stop it and wait until all its processes have ended' },
    { argv: ['stop', 'fix-auth', '--no-wait'], description: 'only ask for it' },
  ],
}

export const RESTART: Command = {
  name: 'restart',
  group: 'Work',
  summary: 'end a session’s process and start it again',
  about: `An agent continues in the same conversation; a command is run again. A session that has
ended is resumed, if it can be.`,
  arguments: [sessionArgument('live')],
  options: [OPTIONS.json],
  examples: [{ argv: ['restart', 'fix-auth'], description: 'a fresh process, the same conversation' }],
}

export const RENAME: Command = {
  name: 'rename',
  group: 'Work',
  summary: 'give a session another name',
  about: `oneshot lists the session under the new name, and every command accepts it. The first
name stays valid: checkpoints, the .agent folder and the tmux session keep it.`,
  arguments: [
    { ...sessionArgument('sessions'), isRequired: true, summary: 'name, task, id or a unique beginning' },
    { valueType: textType('NEW'), summary: 'lower-case letters, digits and hyphens', isRequired: true },
  ],
  options: [OPTIONS.json],
  examples: [{ argv: ['rename', 'demo-task', 'login'], description: 'then: oneshot status login' }],
}

export const KILLALL: Command = {
  name: 'killall',
  group: 'Work',
  summary: 'stop all sessions',
  arguments: [],
  options: [OPTIONS.yes, OPTIONS.timeout, OPTIONS.json],
  examples: [
    { argv: ['killall'], description: 'list them and ask' },
    { argv: ['killall', '--yes'], description: 'from a script' },
  ],
}

export const WAIT: Command = {
  name: 'wait',
  group: 'Work',
  summary: 'wait until sessions have ended, and exit with their outcome',
  about: `Exits with 0 when the work is done, otherwise with the program's exit code, 128 plus
the signal's number, or 1. With several names the first that is not 0 counts.
Ctrl-C ends this command, never the work.`,
  arguments: [{ ...sessionArgument('sessions'), isRepeated: true }],
  options: [OPTIONS.timeout, OPTIONS.json],
  examples: [
    { argv: ['wait', 'fix-auth'], shell: '&& git push', description: 'push only when it is done' },
    { argv: ['wait', 'fix-auth', 'docs', '--timeout', '2h'], description: 'wait for two, but not for ever' },
  ],
}

export const CLEAN: Command = {
  name: 'clean',
  aliases: ['rm'],
  group: 'Work',
  summary: 'remove ended sessions and their logs',
  about: `Your project files stay, and sessions that have not ended are not touched. Checkpoints
stay in git unless you give --checkpoints.`,
  arguments: [
    { ...sessionArgument('ended'), isRepeated: true, summary: 'the sessions to remove; all ended ones unless given' },
  ],
  options: [OPTIONS.olderThan, OPTIONS.dropCheckpoints, OPTIONS.dryRun, OPTIONS.yes, OPTIONS.json],
  examples: [
    { argv: ['clean', '--older-than', '7d', '--dry-run'], description: 'see what would go' },
    { argv: ['clean', '--yes'], description: 'remove all ended sessions without a question' },
    { argv: ['clean', 'fix-auth'], description: 'remove one' },
  ],
}
