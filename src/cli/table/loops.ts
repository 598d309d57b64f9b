import { sessionArgument } from './arguments.ts'
import type { Command } from './command.ts'
import { text } from './kinds.ts'
import { OPTIONS } from './options.ts'

export const LOOP_ACTIONS = ['status', 'land'] as const

/** Options that are about those who work. */
const WORKERS = [
  OPTIONS.agent,
  OPTIONS.model,
  OPTIONS.effort,
  OPTIONS.autonomy,
  OPTIONS.maxTurns,
  OPTIONS.maxRestarts,
  OPTIONS.silence,
  OPTIONS.limitWait,
  OPTIONS.memory,
  OPTIONS.checkpoints,
  OPTIONS.push,
] as const

/** Options that are about the loop as a whole. */
const WHOLE = [
  OPTIONS.prd,
  OPTIONS.verify,
  OPTIONS.noVerify,
  OPTIONS.checkLimit,
  OPTIONS.setup,
  OPTIONS.retries,
  OPTIONS.maxIterations,
  OPTIONS.parallel,
  OPTIONS.land,
  OPTIONS.name,
  OPTIONS.cwd,
  OPTIONS.env,
  OPTIONS.wholeTime,
  OPTIONS.budgetUsd,
  OPTIONS.budgetTokens,
  OPTIONS.onExit,
  OPTIONS.onExitShell,
  OPTIONS.follow,
  OPTIONS.json,
] as const

export const RALPH: Command = {
  name: 'ralph',
  group: 'Work',
  summary: 'work a list of tasks off, each by a fresh agent, and believe only what can be seen',
  about: `The list is a Markdown file with boxes (- [ ] …), a YAML file, or the project’s beads
issues: the one that is named, else PRD, TASKS or TODO in this directory, else beads.

Each iteration is a fresh agent with one task. It is done when git shows work and the
check passes: the one given with --verify, else what the project is tested with, which
is told at the start; --no-verify runs none. A box that was ticked without that is
opened again. The same failure three times sets a task aside with its evidence, and the
next one is begun.

One after the other they work right here. With --parallel several work at a time, each
in a worktree of its own; what is proven is merged into a branch of the loop’s own, and
your checkout is not touched before you say so: --land, or oneshot ralph land.

  oneshot ralph status [NAME]   the board: every task, its state, tries and evidence
  oneshot ralph land [NAME]     bring what was merged into what you have checked out

It is a session like any other: stop, resume, follow, wait and attach work. --max-time
and the budgets are for the loop as a whole, with no limit unless given; turns and what
is about an agent’s life are for each iteration, whose time is limited by the config
key max-time (5h). What follows -- is handed to the agents.`,
  arguments: [
    { kind: text('LIST', 'loop-words'), summary: 'a Markdown or YAML file with tasks; or: status, land' },
    { ...sessionArgument('loops', 'else this directory’s latest loop'), kind: text('NAME', 'loops') },
  ],
  rest: { placeholder: 'ARGV...', summary: 'the agent’s own arguments' },
  options: [...WHOLE, OPTIONS.once, OPTIONS.task, ...WORKERS, OPTIONS.watch],
  examples: [
    { argv: ['ralph'], says: 'work off the list that is found here' },
    { argv: ['ralph', 'PRD.md', '--agent', 'codex', '--verify', 'npm test'], says: 'choose list, agent and check' },
    { argv: ['ralph', 'PRD.md', '--parallel', '4', '--setup', 'npm ci'], says: 'four at a time, in worktrees' },
    { argv: ['ralph', 'PRD.md', '--task', '3', '--once'], says: 'one iteration on one task' },
    { argv: ['ralph', 'status', '--watch'], says: 'the board, as it changes' },
    { argv: ['ralph', 'land'], says: 'bring what was merged into your branch' },
  ],
  excessHint: 'name one list: oneshot ralph PRD.md',
}

export const BUILD: Command = {
  name: 'build',
  group: 'Work',
  summary: 'plan an idea into a list of tasks, and work it off',
  about: `A first agent plans: it writes PRD.md with a box for each task. At a terminal the plan is
shown before it is gone on with; --yes starts at once, --plan-only ends there. Then it is
a loop like that of oneshot ralph, whose rules and options are these.

The directory may be empty or have a project in it; a git repository is made where there
is none.`,
  arguments: [{ kind: text('IDEA'), summary: 'what is to be built; - reads it from stdin' }],
  rest: { placeholder: 'ARGV...', summary: 'the agent’s own arguments' },
  options: [OPTIONS.promptFile, OPTIONS.planOnly, OPTIONS.yes, ...WHOLE, ...WORKERS],
  examples: [
    { argv: ['build', 'a command line tool that renames photos by date'], says: 'plan, look, then build' },
    { argv: ['build', '--yes', '--prompt-file', 'idea.md'], says: 'without a question' },
    { argv: ['build', '--plan-only', 'add a dark mode'], says: 'only the plan, to be worked off by ralph' },
  ],
  excessHint: 'quote the idea: oneshot build "a tool that …"',
}
