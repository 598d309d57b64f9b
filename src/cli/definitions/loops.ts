import { sessionArgument } from '../args/command.ts'
import type { Command } from '../args/command.ts'
import { textType } from '../args/value-types.ts'
import { OPTIONS } from '../args/options.ts'

export const LOOP_ACTIONS = ['status', 'land', 'retry'] as const

/** Options of the loop's workers. */
const WORKER_OPTIONS = [
  OPTIONS.agent,
  OPTIONS.model,
  OPTIONS.effort,
  OPTIONS.autonomy,
  OPTIONS.maxTurns,
  OPTIONS.maxRestarts,
  OPTIONS.silence,
  OPTIONS.limitWait,
  OPTIONS.memory,
  OPTIONS.maxOutput,
  OPTIONS.checkpoints,
  OPTIONS.push,
  OPTIONS.pushUntracked,
] as const

/** Options of the loop as a whole. */
const LOOP_OPTIONS = [
  OPTIONS.prd,
  OPTIONS.verify,
  OPTIONS.noVerify,
  OPTIONS.checkLimit,
  OPTIONS.protect,
  OPTIONS.allow,
  OPTIONS.setup,
  OPTIONS.retries,
  OPTIONS.maxIterations,
  OPTIONS.maxAdded,
  OPTIONS.parallel,
  OPTIONS.land,
  OPTIONS.name,
  OPTIONS.cwd,
  OPTIONS.env,
  OPTIONS.loopMaxTime,
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
  summary: 'work through a list of tasks, each with a fresh agent, and check the results',
  about: `The list is a Markdown file with boxes (- [ ] …), a YAML file, or the project’s beads
issues (oneshot ralph beads): the one that you name, else PRD, TASKS or TODO here.

Each iteration gives one task to a fresh agent. The task is done when git shows work and
the check passes: the one of --verify, else the project’s own tests, which are named at
the start; --no-verify runs none. A box that was ticked without that is opened again.
After the same failure three times the task is blocked, and the next one begins.

Without --parallel the agents work here, one after the other. With --parallel several
work at a time, each in its own worktree; finished tasks are merged into the loop’s own
branch, and your checkout is not touched until --land or oneshot ralph land.

  oneshot ralph status [NAME]   the board: every task, its state, tries and evidence
  oneshot ralph land [NAME]     merge the loop’s branch into your checkout
  oneshot ralph retry N [NAME]  try a blocked task again; --fresh without its earlier work

A loop is a session like any other: stop, resume, follow, wait and attach work. --max-time
and the budgets hold for the whole loop and have no default; --max-turns, --silence,
--memory and the like hold for each iteration, and so does the config key max-time (5h).
Arguments after -- go to the agents.`,
  arguments: [
    {
      valueType: textType('LIST', 'loop-words'),
      summary: 'a Markdown or YAML file with tasks; or: status, land, retry N',
    },
    { ...sessionArgument('loops', 'else this directory’s latest loop'), valueType: textType('NAME', 'loops') },
    { valueType: textType('LOOP', 'loops'), summary: 'the loop, after retry N' },
  ],
  rest: { placeholder: 'ARGV...', summary: 'the agent’s own arguments' },
  options: [
    ...LOOP_OPTIONS,
    OPTIONS.once,
    OPTIONS.task,
    ...WORKER_OPTIONS,
    OPTIONS.watch,
    OPTIONS.discardWork,
    OPTIONS.squash,
    OPTIONS.dryRun,
  ],
  examples: [
    { argv: ['ralph'], description: 'use the list that is found here' },
    {
      argv: ['ralph', 'PRD.md', '--agent', 'codex', '--verify', 'npm test'],
      description: 'choose list, agent and check',
    },
    { argv: ['ralph', 'PRD.md', '--parallel', '4', '--setup', 'npm ci'], description: 'four at a time, in worktrees' },
    { argv: ['ralph', 'PRD.md', '--task', '3', '--once'], description: 'one iteration on one task' },
    { argv: ['ralph', 'status', '--watch'], description: 'the board, as it changes' },
    { argv: ['ralph', 'retry', '3', '--fresh'], description: 'try a blocked task again, from the start' },
    { argv: ['ralph', 'land'], description: 'merge the finished tasks into your branch' },
  ],
  excessHint: 'name one list: oneshot ralph PRD.md',
}

export const BUILD: Command = {
  name: 'build',
  group: 'Work',
  summary: 'plan an idea as a list of tasks, and work through it',
  about: `A first agent plans: it writes PRD.md with a box for each task. At a terminal the command
shows the plan and asks before it starts; --yes starts at once, --plan-only stops there.
The rest is a loop with the rules and options of oneshot ralph.

The directory may be empty or hold a project. If it is no git repository, oneshot makes
one.`,
  arguments: [{ valueType: textType('IDEA'), summary: 'what is to be built; - reads it from stdin' }],
  rest: { placeholder: 'ARGV...', summary: 'the agent’s own arguments' },
  options: [OPTIONS.promptFile, OPTIONS.planOnly, OPTIONS.yes, ...LOOP_OPTIONS, ...WORKER_OPTIONS],
  examples: [
    { argv: ['build', 'a command line tool that renames photos by date'], description: 'plan, look, then build' },
    { argv: ['build', '--yes', '--prompt-file', 'idea.md'], description: 'without a question' },
    { argv: ['build', '--plan-only', 'add a dark mode'], description: 'only the plan, for oneshot ralph later' },
  ],
  excessHint: 'quote the idea: oneshot build "a tool that …"',
}
